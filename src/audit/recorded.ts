import { type Address, type Hex, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { ChainReader } from "./chain-reader.ts";
import { checkCosts } from "./costs.ts";
import type { SignedTransaction } from "./lane.ts";
import type { Receipt } from "./node-answers.ts";
import { type Difference, difference } from "./report.ts";
import { isFilled } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

/** What is recorded for the books alone, and what it is held against. */
interface Recorded {
  readonly snapshot: Snapshot;
  readonly attempts: { readonly signed: readonly SignedTransaction[] };
  readonly receipts: ReadonlyMap<Hex, Receipt>;
  readonly tip: { readonly number: number };
}

/** Checks what no decision hangs on and the books are made of: what transactions cost, when they were, and decimals. */
export async function checkRecorded(
  chain: ChainReader,
  { snapshot, attempts, receipts, tip }: Recorded,
): Promise<Difference[]> {
  return [
    ...checkCosts(snapshot, attempts.signed, receipts),
    ...(await checkTimes(chain, { snapshot, receipts, tip })),
    ...(await checkDecimals(chain, snapshot, tip.number)),
  ];
}

interface Dated {
  readonly subject: string;
  readonly hash: Hex | null;
  readonly block: number;
  readonly seconds: number;
}

/** Rows of before the time was kept have none. */
function datedRows({ swaps, costs }: Snapshot): readonly Dated[] {
  const fills = [...swaps.values()]
    .filter(isFilled)
    .flatMap(({ id, hash, block_number: block, block_time_seconds: seconds }) =>
      block === null || seconds === null ? [] : [{ subject: `swap ${id}`, hash, block, seconds }],
    );
  const transactions = [...costs.values()].map((cost) => ({
    ...{ subject: `intent ${cost.intent_id}`, hash: cost.hash },
    ...{ block: cost.block_number, seconds: cost.block_time_seconds },
  }));
  return [...fills, ...transactions];
}

/** What is recorded in another block than its transaction's is a difference already: that block's time says nothing of it. */
async function checkTimes(
  chain: ChainReader,
  { snapshot, receipts, tip }: Pick<Recorded, "snapshot" | "receipts" | "tip">,
): Promise<Difference[]> {
  const isOfItsBlock = ({ hash, block }: Dated): boolean =>
    block <= tip.number && (hash === null || (receipts.get(hash)?.blockNumber ?? block) === block);
  const rows = datedRows(snapshot).filter(isOfItsBlock);
  const times = await chain.blockTimes([...new Set(rows.map(({ block }) => block))]);
  return rows.flatMap(({ subject, block, seconds }) => {
    const actual = times.get(block);
    if (actual === undefined || actual === seconds) return [];
    const [recorded, said] = [seconds, actual].map((time) => new Date(time * 1_000).toISOString());
    const message = `The ${subject} is recorded at ${recorded}; its block ${block} is of ${said}.`;
    return [difference("TIME_DIFFERS", subject, message, { recorded: seconds, chain: actual, block })];
  });
}

const NATIVE_DECIMALS = 18n;

/** A contract that tells no decimals is no difference. */
async function checkDecimals(chain: ChainReader, snapshot: Snapshot, tip: number): Promise<Difference[]> {
  const rows = [
    ...snapshot.baselines.map(({ token, symbol, decimals }) => ({ token, symbol, decimals })),
    ...[...snapshot.swaps.values()].flatMap((swap) => [
      { token: swap.sell_token, symbol: swap.sell_symbol, decimals: swap.sell_decimals },
      { token: swap.buy_token, symbol: swap.buy_symbol, decimals: swap.buy_decimals },
    ]),
  ];
  const tokens = [...new Set(rows.map(({ token }) => token))].filter((token) => token !== NATIVE_TOKEN);
  const answers = await chain.decimals(tokens, tip);
  const known = new Map<Address, bigint | undefined>([[NATIVE_TOKEN, NATIVE_DECIMALS]]);
  for (const [index, token] of tokens.entries()) known.set(token, answers[index]);
  const told = Map.groupBy(rows, ({ token, decimals }) => `${token} ${decimals}`);
  return [...told.values()].flatMap((same) => {
    const [first] = same;
    const actual = first && known.get(first.token);
    if (first === undefined || actual === undefined || actual === BigInt(first.decimals)) return [];
    const { token, symbol, decimals } = first;
    const message = `In ${same.length} places ${symbol} (${token}) counts with ${decimals} decimals; it has ${actual}.`;
    return [difference("DECIMALS_DIFFER", `token ${token}`, message, { recorded: decimals, chain: actual })];
  });
}
