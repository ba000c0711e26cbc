import { BUDGET_HEADING, budgetTable } from "../budget-lines.ts";
import { formatTable } from "../terminal.ts";
import type { StatusDocument } from "./status-document.ts";

/** So many balances fit a screen; the JSON has all. */
const MOST_BALANCES = 20;

const SENDING = {
  named: "transactions are sent privately, to network.submit",
  book: "transactions are sent privately, to relays of the network book, where all RPC endpoints have TLS",
  public: "transactions are sent to the RPC endpoints (network.submit names no private ones)",
} as const;

/** Whether a daemon runs, what it waits for, and where each strategy stands: for people, in parts. */
export function formatStanding(document: StatusDocument): string[] {
  const { mode, configuredMode, sending, operating, waitsFor, lastClockJump, sold, untaken } = document;
  const isEdited = configuredMode !== null && configuredMode !== mode;
  const edited = isEdited ? ` (the configuration says ${configuredMode}, which applies from the next start on)` : "";
  const lines = [
    daemonLine(document),
    `mode ${mode ?? "unknown (no configuration)"}${edited}; operating mode ${operating ?? "unknown"}`,
    ...(mode === "paper" ? ["nothing is signed or sent: fills are simulated at a later block"] : []),
    ...(sending === null || mode === "paper" ? [] : [SENDING[sending]]),
    ...document.signers.map(signerLine),
    `database ${document.database}; last event: ${document.lastEvent ?? "none"}`,
    ...waitsFor.map(({ text, since }) => `waits since ${since}: ${text}`),
  ];
  if (untaken !== null) lines.push(describeUntaken(untaken));
  if (lastClockJump !== null) lines.push(`last jump of the clock, ${lastClockJump.at}: ${lastClockJump.text}`);
  if (sold !== null) lines.push(`sold in 24 hours ${ceiling(sold.day)}; in 30 days ${ceiling(sold.month)}`);
  const strategies = document.strategies.map(({ id, kind, lastSlot, runs, standing }) => {
    const used = standing?.sold.map(({ token, amount }) => `${shown(amount)} ${token}`).join(", ") || "-";
    const budget = standing?.budget ?? null;
    const budgetText =
      budget === null ? used : `${used === "-" ? "0" : used} of ${shown(budget.amount)} ${budget.token}`;
    const mode = standing?.isInForce === false ? "not in force" : standing?.mode;
    return [id, kind, mode ?? "-", standing?.nextSlot ?? "-", lastSlot ?? "-", budgetText, counts(runs)];
  });
  const heading = ["STRATEGY", "KIND", "MODE", "NEXT SLOT (UTC)", "LAST SLOT (UTC)", "SOLD, OF BUDGET", "RUNS"];
  const parts = [lines.join("\n"), formatTable([heading, ...strategies])];
  const budgets = document.strategies.flatMap(({ id, standing }) => budgetTable(id, standing?.budgets ?? []));
  if (budgets.length > 0) parts.push(formatTable([BUDGET_HEADING, ...budgets]));
  if (document.balances.length > 0) {
    const rows = document.balances
      .slice(0, MOST_BALANCES)
      .map(({ wallet, token, amount, block }) => [wallet, `${shown(amount)} ${token}`, String(block)]);
    parts.push(
      withRest(formatTable([["WALLET", "BALANCE", "AT BLOCK"], ...rows]), document.balances.length - rows.length),
    );
  }
  return parts;
}

/** What is true now, a paragraph each, what is critical first. */
export function formatOpenAlerts({ openAlerts, openAlertCount }: StatusDocument): string[] {
  const lines = openAlerts.map(({ code, text, at }) => `${code} since ${at}: ${text}`);
  if (openAlertCount <= lines.length) return lines;
  const more = `${lines.length} of ${openAlertCount} open alerts are listed, of those that are not critical the oldest`;
  return [...lines, more];
}

/** A table, and how many rows of it are left out. */
export function withRest(table: string, left: number): string {
  return left <= 0 ? table : `${table}\n... and ${left} more (--json has all)`;
}

/** The daemon's own slots are known from its rows; what else is read of the files is not what it goes by. */
function describeUntaken({ code, since }: NonNullable<StatusDocument["untaken"]>): string {
  const before = `the daemon goes by its files as they were before ${since} (${code}), strategies too`;
  return `${before}: slots below are those, budgets and ceilings are those of the files as they are now`;
}

function daemonLine({ daemon }: StatusDocument): string {
  const { running, holder } = daemon;
  if (running === true) return `the daemon runs (${holder ?? "its process is unknown"})`;
  const last = lastOf(daemon);
  return running === null ? `it is not known whether a daemon runs${last}` : `no daemon runs${last}`;
}

/** When a daemon that does not run was at work last, and why the start after that ended. */
export function lastOf({ lastAlive, ended }: StatusDocument["daemon"]): string {
  const atWork = lastAlive === null ? "" : `; it was last at work ${lastAlive}`;
  return ended === null ? atWork : `${atWork}; the last start ended ${ended.at}: ${ended.text}`;
}

function signerLine({ wallet, host, awaySince }: StatusDocument["signers"][number]): string {
  return `${wallet} is signed for by ${host}${awaySince === null ? "" : `, which has been away since ${awaySince}`}`;
}

function ceiling({ soldUsd, limitUsd }: { soldUsd: string; limitUsd: string | null }): string {
  return limitUsd === null ? `${cents(soldUsd)} USD` : `${cents(soldUsd)} of ${cents(limitUsd)} USD`;
}

function cents(usd: string): string {
  return usd.replace(/(\.\d\d)\d*$/, "$1");
}

/** Eight places of an amount are enough to look at, cut; the JSON has all. */
function shown(amount: string): string {
  return amount.replace(/(\.\d{8})\d+$/, "$1");
}

/** Which channels are behind, and what is unsent. */
export function formatUnsent({ channels, unsentAlerts }: StatusDocument): string[] {
  const behind = channels
    .filter(({ isBehind }) => isBehind)
    .map(({ name, waiting, since, outcome }) => {
      return `the channel ${name} is behind: ${waiting} to send, the oldest of ${since}; last answer: ${outcome ?? "none"}`;
    });
  if (unsentAlerts.length === 0) return behind;
  const rows = unsentAlerts
    .slice(0, 10)
    .map(({ channel, code, tells, subject, at, state, attempts, outcome }) => [
      channel,
      tells === "end" ? `${code} is over` : code,
      subject,
      at,
      state,
      String(attempts),
      outcome ?? "-",
    ]);
  const count = `UNSENT ALERTS (${unsentAlerts.length})`;
  return [...behind, formatTable([["CHANNEL", count, "ABOUT", "SINCE", "STATE", "TRIES", "LAST ANSWER"], ...rows])];
}

/** Counts by state, in words. */
export function counts(states: Readonly<Record<string, number>>): string {
  return Object.entries(states)
    .map(([state, count]) => `${count} ${state}`)
    .join(", ");
}
