import { formatDuration } from "../../domain/time/format-duration.ts";
import type { KeptRuns } from "../../ports/keeping.ts";
import type { DatabaseFigures } from "../../storage/figures.ts";
import { type DatabaseHealth, readDatabaseHealth } from "../database-health.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { formatBytes } from "../format-bytes.ts";
import { sayMode } from "../mode-line.ts";
import { configurationOf, findTarget } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";

/** `swapd db check`: whether the database is whole, and what the marker or the chain knows and it does not. */
export async function checkDatabase(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTarget(options);
  sayMode(target, options, terminal);
  const { configuration } = configurationOf(target);
  const health = await readDatabaseHealth(target.database, configuration);
  const { retentionMs } = configuration;
  if (options.json === true) terminal.out(JSON.stringify(jsonOf(health)));
  else terminal.out(describe(health, retentionMs));
  if (health.problems.length + health.differences.length > 0) throw new CommandFailure(EXIT.no, "");
}

function jsonOf({ keeping, copies, ...health }: DatabaseHealth): object {
  const runs = ({ count, old, nextEndedAtMs }: KeptRuns) => ({
    ...{ count, old },
    nextEndedAt: nextEndedAtMs === undefined ? null : formatInstant(nextEndedAtMs),
  });
  return {
    ...health,
    keeping: keeping === null ? null : { unsigned: runs(keeping.unsigned), signed: runs(keeping.signed) },
    copies: copies.map(({ atMs, ...copy }) => ({ ...copy, at: formatInstant(atMs) })),
  };
}

function describe(health: DatabaseHealth, retentionMs: number): string {
  const { database, id, history, problems, wallets, differences, schema, size } = health;
  const known = wallets.map(({ wallet, knownToBlock }) => [wallet, String(knownToBlock ?? "not yet")]);
  const versions = schema.map(({ set, applied, known: of }) => `${set} ${applied} of ${of}`).join(", ");
  return [
    `database ${database}${problems.length === 0 ? `, ${id ?? "without a name yet"}; whole` : `${id === null ? "" : `, ${id}`}; ${problems.join("; ")}`}`,
    ...(versions === "" ? [] : [`tables: ${versions}`]),
    ...(size === null ? [] : [describeSize(size)]),
    ...(history === null || history.links === 0 ? [] : [`history of ${history.links} links up to ${history.head}`]),
    ...describeKeeping(health, retentionMs),
    ...describeCopies(health),
    ...(known.length === 0 ? [] : [formatTable([["WALLET", "CHECKED AGAINST THE CHAIN UP TO BLOCK"], ...known])]),
    ...differences.map(({ kind, halts, since, text }) => `${kind} (halts ${halts}) since ${since}: ${text}`),
    ...(differences.some(({ kind }) => kind !== "unchecked") ? ["accept all of it with: swapd db accept"] : []),
  ].join("\n\n");
}

/** So many tables fit a screen; the JSON has all. */
const MOST_TABLES = 8;

function describeSize({ bytes, freeBytes, logBytes, tables }: DatabaseFigures): string {
  const rows = tables
    .slice(0, MOST_TABLES)
    .map(({ table, rows: count, bytes: used }) => [table, String(count), formatBytes(used)]);
  return [
    `${formatBytes(bytes)}, of which ${formatBytes(freeBytes)} are free and used again; ${formatBytes(logBytes)} in the log beside it`,
    formatTable([["LARGEST TABLES", "ROWS", "WITH INDEXES"], ...rows]),
  ].join("\n\n");
}

function describeKeeping({ keeping }: DatabaseHealth, retentionMs: number): readonly string[] {
  if (keeping === null) return [];
  return [
    `retention ${formatDuration(retentionMs)}: ${describeRuns(keeping.unsigned, "signed nothing and become gaps")}; ${describeRuns(keeping.signed, "signed and are archived, never deleted")}`,
  ];
}

function describeRuns({ count, old, nextEndedAtMs }: KeptRuns, which: string): string {
  if (count === 0) return `no runs that ${which}`;
  const next = nextEndedAtMs === undefined ? "" : `, the next one ended ${formatInstant(nextEndedAtMs)}`;
  return `${count} runs that ${which} (${old} old enough now${next})`;
}

function describeCopies({ copies }: DatabaseHealth): readonly string[] {
  if (copies.length === 0) return [];
  const rows = copies.map(({ file, bytes, atMs }) => [file, formatBytes(bytes), formatInstant(atMs)]);
  const isLeft = copies.some(({ kind }) => kind === "unfinished");
  const left =
    "an unfinished one is being made, or whoever made it was ended: the next `swapd backup` or `swapd restore` removes its own";
  return [formatTable([["COPIES BESIDE IT", "SIZE", "FROM"], ...rows]), ...(isLeft ? [left] : [])];
}
