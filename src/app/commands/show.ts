import type { RunDetails } from "../../ports/read-model.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import { findTargetToRead, nativeWordsOf, type ReadOptions, withReads } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";
import { typed } from "../typed.ts";
import { runJson } from "./history.ts";
import { formatRetries, retryJson } from "./retries.ts";
import { checkTable, swapLines } from "./swap-lines.ts";

/** `swapd show <run|swap>`: one run with every transition, every check, its routes and the service's own record. */
export async function show(id: string, options: ReadOptions & { json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTargetToRead(options);
  sayMode(target, options, terminal);
  const found = await withReads(target, (reads) => reads.run(id));
  if (found === undefined) {
    const history = `swapd history --json${options.rehearsal === true ? " --rehearsal" : ""}`;
    const lists = `\`${typed(history, target, options.config)}\` lists them`;
    throw new CommandFailure(EXIT.no, `no run or swap has the id ${JSON.stringify(id)}; ${lists}`);
  }
  const document = describe(found, nativeWordsOf(target));
  terminal.out(options.json === true ? JSON.stringify(document.json) : document.text);
}

function describe(
  { run, transitions, checks: made, retries }: RunDetails,
  nativeSymbol: string,
): { json: unknown; text: string } {
  const swaps = run.swaps.map((swap, index) => ({
    id: swap.id,
    route: parseOrNull(swap.distributions),
    serviceRecord: parseOrNull(swap.serviceRecord),
    checks: made[index]?.checks ?? [],
  }));
  const json = {
    run: runJson(run),
    retries: retries.map(retryJson),
    transitions: transitions.map((transition) => ({ ...transition, at: formatInstant(transition.atMs) })),
    details: swaps,
  };
  const moves = transitions.map((transition) => [
    new Date(transition.atMs).toISOString(),
    transition.id,
    `${transition.from ?? "(new)"} -> ${transition.to}`,
    [transition.reason, transition.detail].filter((part) => part !== null).join(": "),
  ]);
  const checks = swaps.flatMap((swap) => swap.checks);
  const lines = run.swaps.flatMap((swap) => swapLines(swap, nativeSymbol));
  const parts = [
    `${run.id}  ${run.strategy}  slot ${formatInstant(run.slotMs)}  ${run.state}${run.reason === null ? "" : ` (${run.reason})`}`,
    ...(lines.length === 0 ? [] : [lines.join("\n")]),
    formatTable([["AT", "WHAT", "MOVE", "WHY"], ...moves]),
  ];
  if (retries.length > 0) parts.push(formatRetries(retries));
  if (checks.length > 0) parts.push(checkTable(checks));
  for (const swap of swaps) {
    if (swap.serviceRecord !== null) parts.push(`the service's record: ${JSON.stringify(swap.serviceRecord)}`);
  }
  return { json, text: parts.join("\n\n") };
}

function parseOrNull(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
