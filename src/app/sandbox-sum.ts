import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { type AuditOptions, audit } from "../audit/audit.ts";
import { AuditError } from "../audit/report.ts";
import { describeDollars } from "../domain/money/for-people.ts";
import { type UsdPrice, valueDown } from "../domain/money/price.ts";
import type { SwapHistory } from "../ports/history.ts";
import { openDatabase } from "../storage/database.ts";

/** More runs than a sandbox makes in weeks. */
const ALL_RUNS = 1_000_000;
const FILLED = new Set(["confirmed", "final"]);
const UNFILLED = ["expired", "denied", "skipped", "reverted", "cancelled"] as const;
/** A person waits for the end: what takes longer is left to `swapd audit`. */
const AUDIT_WITHIN_MS = 20_000;

/**
 * What came of a sandbox, one line each: how its swaps ended, what they sold and bought in dollars, and what the audit says.
 */
export async function sandboxSum(
  database: string,
  chain: Omit<AuditOptions, "database">,
  withinMs = AUDIT_WITHIN_MS,
): Promise<readonly string[]> {
  return [...(await swapsSum(database)), await auditLine({ ...chain, database }, withinMs)];
}

/** The same without the audit. */
export async function swapsSum(database: string): Promise<readonly string[]> {
  const swaps = await readSwaps(database);
  const filled = swaps.filter(({ state }) => FILLED.has(state));
  const without = UNFILLED.map((state) => ({ state, count: swaps.filter((swap) => swap.state === state).length }));
  const open = swaps.length - filled.length - without.reduce((sum, { count }) => sum + count, 0);
  const ends = [
    `${filled.length === 1 ? "1 swap" : `${filled.length} swaps`} filled`,
    ...without.flatMap(({ state, count }) => (count === 0 ? [] : [`${count} ${state}`])),
    ...(open === 0 ? [] : [`${open} still open`]),
  ];
  return [ends.join(", "), ...worthOf(filled)];
}

async function readSwaps(database: string): Promise<readonly SwapHistory[]> {
  const db = openDatabase({ file: database, readonly: true });
  try {
    return (await createReadModel(db).runs({ limit: ALL_RUNS })).flatMap(({ swaps }) => swaps);
  } finally {
    db.close();
  }
}

/** At the reference prices by which each was cleared. */
function worthOf(filled: readonly SwapHistory[]): readonly string[] {
  const worth = filled.flatMap(({ sold, bought, sell, buy, prices }) => {
    if (sold === null || bought === null || prices?.sold == null || prices.bought == null) return [];
    const out = valueDown({ raw: BigInt(sold), decimals: sell.decimals }, BigInt(prices.sold.usd) as UsdPrice);
    const into = valueDown({ raw: BigInt(bought), decimals: buy.decimals }, BigInt(prices.bought.usd) as UsdPrice);
    return [{ out, into }];
  });
  if (worth.length === 0) return [];
  const out = worth.reduce((sum, one) => sum + one.out, 0n);
  const into = worth.reduce((sum, one) => sum + one.into, 0n);
  return [`sold ${describeDollars(out)} for ${describeDollars(into)}, at the reference prices of each swap`];
}

/** The audit's answer in a few words. What it cannot read now is no difference, and no reason not to stop. */
async function auditLine(options: AuditOptions, withinMs: number): Promise<string> {
  const giveUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), withinMs);
  });
  try {
    const report = await Promise.race([audit({ ...options, signal: giveUp.signal }).catch(asText), late]);
    if (report === undefined) return "audit: not ended yet; `npx swapd audit` looks at everything";
    if (typeof report === "string") return report;
    const { differences } = report;
    if (report.clean) return "audit: no difference between database and chain";
    const count = differences.length === 1 ? "1 difference" : `${differences.length} differences`;
    return `audit: ${count} between database and chain; \`npx swapd audit\` shows them`;
  } finally {
    clearTimeout(timer);
    giveUp.abort();
  }
}

function asText(error: unknown): string {
  if (error instanceof AuditError) return `audit: not possible: ${error.message}`;
  throw error;
}
