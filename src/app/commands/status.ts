import { databaseAtWork, describeAtWork } from "../daemon-beside.ts";
import { CommandFailure } from "../exit-codes.ts";
import { comparePaper, describePaperAgainstLive, paperAgainstLiveJson } from "../paper-against-live.ts";
import type { StandingSettings } from "../read-standing.ts";
import { readServiceCounts } from "../service-counts.ts";
import { configurationOf, findTarget, type Target, withReads } from "../target.ts";
import { formatTable, type Terminal } from "../terminal.ts";
import { readStatus, type StatusDocument } from "./status-document.ts";
import { counts, formatOpenAlerts, formatStanding, formatUnsent, withRest } from "./status-standing.ts";

/** `swapd status`: whether a daemon runs and what it waits for, strategies, modes, budgets, balances, swaps by state. */
export async function status(
  options: { config?: string; json?: boolean; service?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  const serviceCounts = options.service === true ? await readServiceCounts(target) : undefined;
  const settings = settingsOf(target);
  const { compared, ...document } = await withReads(target, async (reads) => ({
    ...(await readStatus(reads, { database: target.database, settings })),
    compared: settings?.mode === "live" ? await comparePaper(reads, target.database) : undefined,
    serviceCounts,
  }));
  if (options.json === true) {
    const paperAgainstLive = compared === undefined ? null : paperAgainstLiveJson(compared);
    terminal.out(JSON.stringify({ ...document, paperAgainstLive }));
    return;
  }
  const parts = [...aboutFiles(target), formatStatus(document)];
  if (compared !== undefined) parts.push(describePaperAgainstLive(compared));
  terminal.out(parts.join("\n\n"));
}

/** Why the rows may not be those of the daemon that runs, or not be read with the files that it has. */
function aboutFiles(target: Target): readonly string[] {
  const atWork = databaseAtWork(target.database);
  const beside = atWork === undefined ? [] : [describeAtWork(atWork)];
  if (target.kind !== "broken") return beside;
  return [...beside, `${target.problems}\n\na daemon that runs goes on under the files as they were`];
}

/** The files may be broken, and the sandbox's be gone; the rows can still be read. */
function settingsOf(target: Target): StandingSettings | undefined {
  try {
    return configurationOf(target).configuration;
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

/** The document for people. */
function formatStatus(document: StatusDocument): string {
  const parts = [...formatStanding(document), `swaps: ${counts(document.swaps) || "none"}`];
  for (const [wallet, answer] of Object.entries(document.serviceCounts ?? {})) {
    parts.push(`the service counts for ${wallet}: ${typeof answer === "string" ? answer : counts(answer)}`);
  }
  parts.push(...formatOpenAlerts(document));
  if (document.halts.length > 0) {
    const halts = document.halts.map((halt) => [halt.account, halt.at, halt.reason]);
    parts.push(formatTable([["HALTED ACCOUNT", "SINCE", "WHY (`swapd resume` releases it)"], ...halts]));
  }
  parts.push(...formatUnsent(document));
  const modes = document.modes.map((mode) => [mode.scope, mode.mode, mode.setBy, mode.at, mode.reason]);
  if (modes.length > 0) parts.push(formatTable([["SCOPE", "MODE", "SET BY", "AT", "WHY"], ...modes]));
  if (document.gaps.length > 0) {
    const gaps = document.gaps
      .slice(0, 10)
      .map((gap) => [gap.strategy, gap.first, gap.last, String(gap.count), gap.reason]);
    const table = formatTable([["SLOTS WITHOUT A RUN", "FIRST", "LAST", "COUNT", "WHY"], ...gaps]);
    parts.push(withRest(table, document.gaps.length - gaps.length));
  }
  return parts.join("\n\n");
}
