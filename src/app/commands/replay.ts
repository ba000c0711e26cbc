import { type Replay, replayRun, type StoredRun } from "../../domain/run/replay.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import { findTarget, withReads } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";
import { typed } from "../typed.ts";

/** `swapd replay <run>`: takes the steps of a run again from what is stored, and compares the moves with the stored ones. */
export async function replay(
  runId: string,
  options: { config?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  sayMode(target, options, terminal);
  const { stored, isThere } = await withReads(target, (reads) => reads.storedRun(runId));
  if (stored === undefined) {
    const why = isThere
      ? `the steps of ${runId} are not stored any more: they are kept for \`retention\`; its moves and checks are kept for ever`
      : `no run has the id ${JSON.stringify(runId)}; \`${typed("swapd history --json", target, options.config)}\` lists them`;
    throw new CommandFailure(EXIT.no, why);
  }
  const { results, difference } = replayStored(stored);
  const steps = stored.steps.map(({ event, evidence }, index) => ({
    at: new Date(evidence.nowMs).toISOString(),
    event: event.kind,
    transitions: (results[index]?.transitions ?? []).map(({ subjectId, from, to }) => ({ subjectId, from, to })),
  }));
  const found = difference === undefined ? null : { ...difference, text: describe(difference) };
  const moves = steps.flatMap(({ at, event, transitions }) => {
    const [first = "", ...others] = transitions.map(
      ({ subjectId, from, to }) => `${subjectId} ${from ?? "(new)"} -> ${to}`,
    );
    return [[at, event, first], ...others.map((move) => ["", "", move])];
  });
  const head = `${runId} of ${stored.run.strategyId}, slot ${formatInstant(stored.run.slotMs)}: ${steps.length} steps taken again`;
  const verdict =
    found === null ? `All ${stored.transitions.length} stored moves and the run's state are the same.` : found.text;
  terminal.out(
    options.json === true
      ? JSON.stringify({ run: runId, steps, difference: found }, bigintAsText)
      : [head, formatTable(moves), verdict].join("\n\n"),
  );
  if (found !== null) throw new CommandFailure(EXIT.no, "");
}

/** @throws CommandFailure when steps are not stored, or cannot follow one another */
function replayStored(stored: StoredRun): Replay {
  const [first] = stored.steps;
  if (stored.run.state !== "due" && first?.event.kind !== "started") {
    throw new CommandFailure(
      EXIT.no,
      `the first steps of ${stored.run.id} are not stored: it began before they were kept`,
    );
  }
  try {
    return replayRun(stored);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.no, `the stored steps of ${stored.run.id} do not follow one another: ${text}`);
  }
}

function describe({ path, stored, replayed }: NonNullable<Replay["difference"]>): string {
  return `Different at ${path}: stored ${format(stored)}, taken again ${format(replayed)}.`;
}

function format(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value, bigintAsText);
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
