import type { Address } from "../domain/money/address.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { OwnTransaction, SignedTransaction } from "./lane.ts";
import { type Difference, difference } from "./report.ts";
import type { WatchList } from "./watch-list.ts";

/** What is known of one account's nonces. */
interface Account {
  readonly account: Address;
  /** nonces that signed attempts were given, lowest first */
  readonly given: readonly number[];
  /** nonces of attempts that are in blocks up to the tip */
  readonly used: ReadonlySet<number>;
  /** transactions of the account in blocks up to the tip */
  readonly count: number;
  /** block of the account's first transaction of ours, else the tip */
  readonly firstBlock: number;
}

/**
 * Every nonce that the chain used since the baseline was used by an attempt of ours, and the nonces that we gave have no
 * hole. A nonce is used once, so a receipt of ours at each of them leaves no room for a foreign transaction; only what
 * happened between the baseline and the first of ours is looked for in blocks.
 */
export async function checkNonces(
  chain: ChainReader,
  sources: {
    watch: WatchList;
    signed: readonly SignedTransaction[];
    own: readonly OwnTransaction[];
    counts: ReadonlyMap<Address, number>;
    tip: number;
    maxScannedBlocks: number;
  },
): Promise<{ differences: Difference[]; notes: string[] }> {
  const differences: Difference[] = [];
  const notes: string[] = [];
  for (const wallet of sources.watch.wallets) {
    const account = accountOf(wallet, sources);
    differences.push(...checkGiven(account), ...checkUsed(account));
    const before = await transactionsBefore(chain, account, sources);
    if (typeof before === "string") notes.push(before);
    else differences.push(...before);
  }
  return { differences, notes };
}

function accountOf(
  account: Address,
  sources: {
    signed: readonly SignedTransaction[];
    own: readonly OwnTransaction[];
    counts: ReadonlyMap<Address, number>;
    tip: number;
  },
): Account {
  const given = new Set<number>();
  for (const { intent, attempt } of sources.signed) if (intent.account === account) given.add(attempt.nonce);
  const own = sources.own.filter((one) => one.account === account && one.receipt.blockNumber <= sources.tip);
  return {
    account,
    given: [...given].sort((a, b) => a - b),
    used: new Set(own.map(({ nonce }) => nonce)),
    count: sources.counts.get(account) ?? 0,
    firstBlock: own.reduce((first, { receipt }) => Math.min(first, receipt.blockNumber), sources.tip),
  };
}

function checkGiven({ account, given }: Account): Difference[] {
  return given.slice(1).flatMap((nonce, index) => {
    const before = given[index];
    if (before === undefined || nonce === before + 1) return [];
    const message = `${account} signed with nonce ${before} and next with ${nonce}: nothing was signed in between.`;
    return [difference("NONCE_GAP", `${account} nonce ${before + 1}`, message, { account, before, after: nonce })];
  });
}

function checkUsed({ account, given, used, count }: Account): Difference[] {
  const first = given[0];
  if (first === undefined) return [];
  const foreign: number[] = [];
  for (let nonce = first; nonce < count; nonce += 1) if (!used.has(nonce)) foreign.push(nonce);
  return rangesOf(foreign).map(([from, to]) => foreignNonces(account, from, to));
}

function foreignNonces(account: Address, from: number, to: number): Difference {
  const which = from === to ? `Nonce ${from}` : `Nonces ${from} to ${to}`;
  const message = `${which} of ${account} were used on the chain by no transaction that is recorded: the key is used elsewhere.`;
  return difference("FOREIGN_NONCE", `${account} nonce ${from}`, message, { account, from, to });
}

/** @returns differences, or a note why this could not be looked at */
async function transactionsBefore(
  chain: ChainReader,
  known: Account,
  limits: { watch: WatchList; tip: number; maxScannedBlocks: number },
): Promise<Difference[] | string> {
  const { account, count, firstBlock } = known;
  const first = known.given[0] ?? count;
  const baseline = baselineBlockOf(account, limits.watch);
  if (first === 0 || baseline === undefined) return [];
  const before = await chain.transactionCount(account, baseline);
  if (before !== undefined) return before < first ? [foreignNonces(account, before, first - 1)] : [];
  const range = { from: baseline + 1, to: firstBlock };
  const blocks = range.to - range.from + 1;
  if (blocks > limits.maxScannedBlocks) {
    return `Transactions of ${account} before its first recorded one were not looked for: ${blocks} blocks, and the node keeps no state of block ${baseline}.`;
  }
  const found = await chain.transactionsFrom(new Set([account]), range);
  return found.filter(({ nonce }) => nonce < first).map(({ nonce }) => foreignNonces(account, nonce, nonce));
}

function baselineBlockOf(account: Address, watch: WatchList): number | undefined {
  const blocks = [...watch.tokens].map((token) => watch.baselineBlock(account, token));
  const earliest = Math.min(...blocks);
  return Number.isFinite(earliest) ? earliest : undefined;
}

function rangesOf(numbers: readonly number[]): [number, number][] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}
