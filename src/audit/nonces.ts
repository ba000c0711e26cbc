import type { Address } from "../domain/money/address.ts";
import type { Accepted } from "./accepted.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { OwnTransaction, SignedTransaction } from "./lane.ts";
import { type Difference, difference } from "./report.ts";
import type { WatchList } from "./watch-list.ts";

/** What is known of one account's nonces. */
interface Account {
  readonly account: Address;
  /** nonces that signed attempts were given, lowest first */
  readonly given: readonly number[];
  /** nonces of attempts that are in blocks up to the tip, and the blocks that they are in */
  readonly used: ReadonlyMap<number, number>;
  /** transactions of the account in blocks up to the tip */
  readonly count: number;
  /** block of the account's first transaction of ours, else the tip */
  readonly firstBlock: number;
  /** block of its earliest baseline */
  readonly baseline: number | undefined;
  /** nonces below were used with a person's knowledge */
  readonly accepted: number;
}

interface NonceSources {
  readonly watch: WatchList;
  /** contracts, whose nonces count the contracts that they made */
  readonly safes: ReadonlySet<Address>;
  readonly signed: readonly SignedTransaction[];
  readonly own: readonly OwnTransaction[];
  readonly counts: ReadonlyMap<Address, number>;
  readonly accepted: Accepted;
  readonly tip: number;
  readonly maxScannedBlocks: number;
}

/** Transactions of an account that no row knows and a person accepted, and the blocks that they are in. */
export interface ForeignRange {
  readonly account: Address;
  /** lowest and highest nonce */
  readonly from: number;
  readonly to: number;
  /** both included */
  readonly blocks: { readonly from: number; readonly to: number };
}

/**
 * Every nonce that the chain used since the baseline was used by an attempt of ours, and the nonces that we gave have no
 * hole. A nonce is used once, so a receipt of ours at each of them leaves no room for a foreign transaction; only what
 * happened between the baseline and the first of ours is looked for in blocks. What a person accepted is noted.
 */
export async function checkNonces(
  chain: ChainReader,
  sources: NonceSources,
): Promise<{ differences: Difference[]; notes: string[]; accepted: ForeignRange[] }> {
  const differences: Difference[] = [];
  const notes: string[] = [];
  const accepted: ForeignRange[] = [];
  const ofKeys = [...sources.watch.wallets].filter((wallet) => !sources.safes.has(wallet));
  for (const wallet of ofKeys) {
    const account = accountOf(wallet, sources);
    const before = await transactionsBefore(chain, account, sources);
    if (typeof before === "string") notes.push(before);
    differences.push(...checkGiven(account));
    for (const range of [...foreignAmongOurs(account, sources.tip), ...(typeof before === "string" ? [] : before)]) {
      const [known, unknown] = parted(range, account.accepted);
      if (unknown !== undefined) differences.push(foreignNonces(unknown));
      if (known === undefined) continue;
      accepted.push(known);
      notes.push(`Accepted by ${sources.accepted.byOf(wallet)}: ${usedElsewhere(known)}.`);
    }
  }
  return { differences, notes, accepted };
}

function accountOf(account: Address, sources: NonceSources): Account {
  const given = new Set<number>();
  for (const { intent, attempt } of sources.signed) if (intent.account === account) given.add(attempt.nonce);
  const own = sources.own.filter((one) => one.account === account && one.receipt.blockNumber <= sources.tip);
  return {
    account,
    given: [...given].sort((a, b) => a - b),
    used: new Map(own.map(({ nonce, receipt }) => [nonce, receipt.blockNumber])),
    count: sources.counts.get(account) ?? 0,
    firstBlock: own.reduce((first, { receipt }) => Math.min(first, receipt.blockNumber), sources.tip),
    baseline: baselineBlockOf(account, sources.watch),
    accepted: sources.accepted.countOf(account),
  };
}

/** A hole that a person accepted is one of nonces that others used: the next one lies above. */
function checkGiven({ account, given, accepted }: Account): Difference[] {
  return given.slice(1).flatMap((nonce, index) => {
    const before = given[index];
    if (before === undefined || nonce === before + 1 || nonce <= accepted) return [];
    const message = `${account} signed with nonce ${before} and next with ${nonce}: nothing was signed in between.`;
    return [difference("NONCE_GAP", `${account} nonce ${before + 1}`, message, { account, before, after: nonce })];
  });
}

/** Nonces from the first of ours on that nothing of ours used. */
function foreignAmongOurs({ account, given, used, count, baseline }: Account, tip: number): ForeignRange[] {
  const ranges: ForeignRange[] = [];
  let from = given[0] ?? count;
  let block = (baseline ?? 0) + 1;
  for (let nonce = from; nonce <= count; nonce += 1) {
    const usedIn = nonce === count ? tip : used.get(nonce);
    if (usedIn === undefined) continue;
    if (from < nonce) ranges.push({ account, from, to: nonce - 1, blocks: { from: block, to: usedIn } });
    [from, block] = [nonce + 1, usedIn];
  }
  return ranges;
}

/** @returns what a person accepted of a range, and what nobody did */
function parted(range: ForeignRange, accepted: number): readonly (ForeignRange | undefined)[] {
  const { from, to } = range;
  const known = from < accepted ? { ...range, to: Math.min(to, accepted - 1) } : undefined;
  return [known, to >= accepted ? { ...range, from: Math.max(from, accepted) } : undefined];
}

function usedElsewhere({ account, from, to }: ForeignRange): string {
  const which = from === to ? `nonce ${from} of ${account} was` : `nonces ${from} to ${to} of ${account} were`;
  return `${which} used on the chain by no transaction that is recorded`;
}

function foreignNonces(range: ForeignRange): Difference {
  const { account, from, to } = range;
  const text = usedElsewhere(range);
  const message = `${text[0]?.toUpperCase()}${text.slice(1)}: the key is used elsewhere.`;
  return difference("FOREIGN_NONCE", `${account} nonce ${from}`, message, { account, from, to });
}

/** @returns what is there, or a note why this could not be looked at */
async function transactionsBefore(
  chain: ChainReader,
  known: Account,
  limits: { maxScannedBlocks: number },
): Promise<ForeignRange[] | string> {
  const { account, count, firstBlock, baseline } = known;
  const first = known.given[0] ?? count;
  if (first === 0 || baseline === undefined) return [];
  const blocks = { from: baseline + 1, to: firstBlock };
  const before = await chain.transactionCount(account, baseline);
  if (before !== undefined) return before < first ? [{ account, from: before, to: first - 1, blocks }] : [];
  const length = blocks.to - blocks.from + 1;
  if (length > limits.maxScannedBlocks) {
    return `Transactions of ${account} before its first recorded one were not looked for: ${length} blocks, and the node keeps no state of block ${baseline}.`;
  }
  const found = await chain.transactionsFrom(new Set([account]), blocks);
  return found
    .filter(({ nonce }) => nonce < first)
    .map(({ nonce, blockNumber: block }) => ({ account, from: nonce, to: nonce, blocks: { from: block, to: block } }));
}

function baselineBlockOf(account: Address, watch: WatchList): number | undefined {
  const blocks = [...watch.tokens].map((token) => watch.baselineBlock(account, token));
  const earliest = Math.min(...blocks);
  return Number.isFinite(earliest) ? earliest : undefined;
}
