import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import type { Configuration } from "../../config/configuration.ts";
import { editYaml } from "../../config/edit-yaml.ts";
import { formatProblems } from "../../config/problem.ts";
import type { ForecastSlot } from "../../domain/forecast/forecast.ts";
import { GLOBAL_SCOPE, type ModeRow } from "../../domain/run/operating-mode.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { findingsOf, findingsText } from "../check-everything.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { inShell } from "../in-shell.ts";
import { nextSlots } from "../init/ceilings.ts";
import { type LineSource, processLines } from "../init/lines.ts";
import { readLiveDatabase } from "../live-database.ts";
import { loadConfiguration } from "../load-configuration.ts";
import { machineZone } from "../machine-zone.ts";
import { replaceFile } from "../new-file.ts";
import { assertReadable } from "../no-rights.ts";
import { type Plan, readPlan } from "../read-plan.ts";
import { createCommandRuntime } from "../runtime.ts";
import { carryStops } from "../stops-beside.ts";
import { changing, configurationFile, nameTarget, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";
import { planText } from "./plan.ts";

export interface LiveOptions {
  readonly config?: string;
  /** do not ask */
  readonly yes?: boolean;
}

/**
 * `swapd live`: checks everything as it would be live, shows what the next slots do and the worst case, asks, and sets
 * the mode in the file. Where the file cannot be written it shows the line to set, and changes nothing.
 */
export async function live(options: LiveOptions, terminal: Terminal, lines?: LineSource): Promise<void> {
  const file = resolve(configurationFile(options));
  assertReadable(file);
  if (!existsSync(file)) {
    throw new CommandFailure(
      EXIT.usage,
      `nothing was changed: there is no ${file}; name one with --config FILE, or make one with swapd init`,
    );
  }
  const now = readConfiguration(file, EXIT.no);
  const before = readFileSync(file, "utf8");
  if (now.mode === "live") {
    terminal.out(`live already: nothing was changed\n${placeOf(now)}`);
    return;
  }
  const { wanted, modes, fromPaper } = await checked(file, terminal);
  const plan = await readPlan({ configuration: wanted, env: process.env, modes }, 1);
  terminal.out(`\n${planText(plan)}\n`);
  terminal.out(comingSlots(wanted, { plan, modes }));
  if (options.yes !== true && !(await agrees(now, lines))) throw unchanged(now, "nothing was changed");
  await changing({ kind: "configured", configuration: wanted, database: wanted.database }, async () => {
    await carryStops(wanted.database, fromPaper);
  });
  const kept = fromPaper.map(({ scope, mode, reason }) => `${scope} ${mode} (${reason})`).join(", ");
  if (kept !== "") terminal.out(`kept from paper, in ${wanted.database}: ${kept}`);
  const after = editYaml(before, [{ path: ["mode"], text: "live" }]);
  if (after === undefined)
    throw byHand(now, "its mode cannot be set without changing something else, so that what sets it now has to go");
  const problem = replaceFile(file, { before, after });
  const line = otherLine(before, after);
  if (problem !== undefined) throw byHand(now, problem, line);
  terminal.out(`${file} is live now: ${line.text}\n${whatNext(now)}\n${placeOf(wanted)}`);
}

/** What would be live, what bars it from trading, and what of that stands on paper alone. */
interface Checked {
  readonly wanted: Configuration;
  readonly modes: readonly ModeRow[];
  readonly fromPaper: readonly ModeRow[];
}

/** The configuration as it would be live, once nothing is wrong with it. */
async function checked(file: string, terminal: Terminal): Promise<Checked> {
  const loaded = loadConfiguration(file, process.env, { overrides: { mode: "live" } });
  if (!loaded.ok) throw new CommandFailure(EXIT.no, `${formatProblems(loaded.problems)}\nnothing was changed: ${file}`);
  const { configuration } = loaded;
  const { warnings, strategies } = configuration;
  if (warnings.length > 0) terminal.out(`warnings:\n${formatProblems(warnings)}`);
  const findings = await findingsOf(configuration, createCommandRuntime(process.env));
  const database = await readLiveDatabase(configuration);
  const all = [...findings.machine, ...database.findings, ...findings.service, ...findings.chain];
  terminal.out(findingsText(all));
  const problems = all.filter(({ whatToDo }) => whatToDo !== undefined);
  if (problems.length > 0 || strategies.length === 0) {
    throw new CommandFailure(EXIT.no, `nothing was changed: ${problems.length} of these have to be put right first`);
  }
  return { wanted: configuration, modes: database.modes, fromPaper: database.fromPaper };
}

/** When each strategy trades for the first time, by its own wall clock; or what bars it. */
function comingSlots(
  { strategies, file }: Configuration,
  { plan, modes }: { readonly plan: Plan; readonly modes: readonly ModeRow[] },
): string {
  const nowMs = systemClock.nowMs();
  const barred = new Map(
    plan.slots.flatMap((slot) => (slot.decision === "barred" ? [[slot.strategyId, slot] as const] : [])),
  );
  const trades = plan.slots.filter(({ isAtOnce, decision }) => isAtOnce && decision === "swap");
  const atOnce = new Set(trades.map(({ strategyId }) => strategyId));
  const lines = strategies.map(({ spec }) => {
    const slot = barred.get(spec.id);
    if (slot !== undefined) return `${spec.id} starts no run: ${whyBarred(slot, modes, file)}`;
    const zone = spec.schedule.timezone ?? machineZone();
    const from = atOnce.has(spec.id) ? "at the start, and then from its next slot on" : "from its next slot on";
    return `${spec.id} trades ${from}: ${nextSlots(spec.schedule, zone, nowMs)[0] ?? "none is to come"}`;
  });
  return lines.join("\n");
}

/** Who set what bars a strategy, and what lifts it: typed now, it would be lifted on paper. */
function whyBarred({ strategyId, reason }: ForecastSlot, modes: readonly ModeRow[], file: string): string {
  const config = `--config ${inShell(file)}`;
  const lines = modes.flatMap(({ scope, mode, setBy, reason: why }) => {
    if (scope !== GLOBAL_SCOPE && scope !== strategyId) return [];
    const named = scope === GLOBAL_SCOPE ? "" : ` ${scope}`;
    return [`${scope} is ${mode}, set by ${setBy}: ${why}; once this is live: swapd resume${named} ${config}`];
  });
  return lines.join("; ") || `it is ${reason ?? "barred"}; once this is live, swapd db check ${config} says why`;
}

async function agrees({ file }: Configuration, lines: LineSource | undefined): Promise<boolean> {
  const source = lines ?? processLines();
  try {
    const answer = await source.next(`trade for real with ${file}? Type yes [no]: `);
    return answer?.trim().toLowerCase() === "yes";
  } finally {
    source.close();
  }
}

interface Line {
  readonly text: string;
  /** the number of the line in whose place it is written; undefined: it is one more */
  readonly number: number | undefined;
}

/** The line in which a file is another one. */
function otherLine(before: string, after: string): Line {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const index = now.findIndex((text, place) => text !== old[place]);
  return { text: (now[index] ?? "").trimEnd(), number: now.length > old.length ? undefined : index + 1 };
}

function byHand(configuration: Configuration, why: string, { text, number }: Line = BY_ITSELF): CommandFailure {
  const where = number === undefined ? "as a line of its own" : `in place of line ${number}`;
  return unchanged(
    configuration,
    `${why}, and the file was not changed. Write this ${where} of ${configuration.file}, then start swapd again:\n\n${text}\n`,
  );
}

/** Where the mode stands in a way that is not edited here, such as an alias, its line is found by who wrote it. */
const BY_ITSELF: Line = { text: "mode: live", number: undefined };

function unchanged(configuration: Configuration, message: string): CommandFailure {
  return new CommandFailure(EXIT.no, `${message}\n${placeOf(configuration)}`);
}

function placeOf(configuration: Configuration): string {
  return nameTarget({ kind: "configured", configuration, database: configuration.database });
}

/** A daemon that runs read its mode when it started. */
function whatNext({ database, file, mode }: Configuration): string {
  const claim = existsSync(database) ? claimDatabase(database) : undefined;
  if (claim?.kind === "claimed") claim.release();
  if (claim?.kind === "held")
    return `the daemon that runs (${claim.holder ?? "of this database"}) stays in mode ${mode} until it is started again`;
  return `start it: swapd start --config ${inShell(file)}`;
}
