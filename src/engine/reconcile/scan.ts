import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import type { BlockHead, Chain } from "../../ports/chain.ts";
import type { Finding, KnownChain } from "../../ports/reconciliation-store.ts";
import { scanAllowances } from "./allowances.ts";
import { agreedBalance, balancesBy, knowledgeAt } from "./baseline.ts";
import { exactAmount } from "./exact-amount.ts";
import type { ScanContext } from "./patient-chain.ts";
import { type Moves, type Range, type ReadSoFar, readBack, tokensOf } from "./read-back.ts";
import { unknownFills, unknownOutflows, whatIsOurs, withTimes } from "./unknown-moves.ts";

/** What the chain shows of a wallet since a block, and where the next check begins. */
export interface ChainScan {
  readonly findings: readonly Finding[];
  /** undefined: the logs could not be read back, and the next check begins where this one did */
  readonly known: KnownChain | undefined;
  /**
   * The time was up before all logs were read: the next check goes on with the blocks after those. Or nodes that are
   * behind proved nothing about an allowance: the next check asks again.
   */
  readonly isUnfinished: boolean;
  /** tokens of which an allowance was found before, and of which a final block shows none */
  readonly withoutAllowance: ReadonlySet<Address>;
}

/** From where a check begins. */
interface ScanStart {
  readonly known: KnownChain;
  /** fills up to this block are known, no matter who made them */
  readonly fillsSince: number;
  /** all endpoints have to list the same logs, up to the newest block that all of them have */
  readonly isOfAll: boolean;
  /** the check has to reach a block of after it: Unix milliseconds */
  readonly sinceMs: number;
}

/** The words of a refusal. @throws what else kept a read from its answer: a node that is away may answer later */
export function refusalOf(error: unknown): string {
  if (!(error instanceof ChainReadError) || !error.isRefusal) throw error;
  return error.message;
}

/**
 * Checks the chain against the rows of a wallet since the last block that they know: transactions of the account, fills in
 * our settlement, outflows and allowances of the configured tokens. What no row explains is a finding. Nothing is written.
 * @throws ChainReadError when the node is away: nothing can be said yet
 */
export async function scanChain(
  context: ScanContext,
  soFar: ReadSoFar,
  { known, fillsSince, isOfAll, sinceMs }: ScanStart,
): Promise<ChainScan> {
  const { chain } = context.deps;
  const { wallet } = known;
  const { latest, logs } = isOfAll
    ? await chain.agreed()
    : { latest: await chain.latest(), logs: (filter: Parameters<Chain["logs"]>[0]) => chain.logs(filter) };
  assertAfter(latest, sinceMs);
  const newestFinal = await chain.finalized();
  const finalized = Math.min(newestFinal.number, latest.number);
  const count = await chain.transactionCount(wallet, "latest");
  const range = { fromBlock: Math.min(known.block + 1, latest.number), toBlock: latest.number };
  const findings: Finding[] = [];
  let isProved = true;
  let isUnfinished = false;
  let isSettled = true;
  let held: { readonly before: KnownChain["balances"]; readonly moves: Moves } | undefined;
  try {
    const read = await readBack(context, soFar, { wallet, logs, finalized, isOfAll, ...range });
    const moves = {
      ...{ wallet, fromBlock: range.fromBlock },
      fills: read.fills.filter(({ blockNumber }) => blockNumber > fillsSince),
      // No row can know what the wallet's owner moved before its first check.
      outflows: read.out.filter(({ blockNumber }) => blockNumber > known.baseline.block),
    };
    const ours = await whatIsOurs(context, moves);
    findings.push(...(await withTimes(context, unknownFills(context, moves, ours))));
    const outflows = await unknownOutflows(context, moves, ours);
    findings.push(...(await withTimes(context, outflows.found)));
    isSettled = outflows.explained === 0;
    isUnfinished = read.upTo < latest.number;
    if (isUnfinished) findings.push(unfinished(wallet, range, read.upTo));
    else {
      const losses = await unexplainedLosses(context, known, { ...read, toBlock: latest.number });
      findings.push(...losses.findings);
      held = { before: losses.before, moves: read };
      await assertStands(context, latest);
      // What does not explain the balances was left out by a node, and another check reads it all again. What was read is
      // kept where a node forgot the balances meanwhile: the next check has the newest blocks alone to read, and is quick.
      soFar.delete(wallet);
    }
  } catch (error) {
    isProved = false;
    findings.push(unreadable(wallet, range, refusalOf(error)));
  }
  isProved &&= findings.every(({ kind, scope }) => kind !== "cannot-prove" || scope === "token");
  // An allowance that is not read says nothing of what happened since: the next check begins after this one all the same.
  const agreed = await chain.agreed();
  const allowances = await scanAllowances(context, agreed, { wallet, toBlock: latest.number });
  findings.push(...allowances.findings);
  const { withoutAllowance } = allowances;
  isUnfinished ||= allowances.isUndecided;
  const transactions = await unknownTransactions(context, known, count);
  findings.push(...(transactions ?? []));
  if (!isProved || held === undefined || transactions === undefined)
    return { findings, known: undefined, isUnfinished, withoutAllowance };
  const toBlock = Math.max(known.block, finalized);
  // What an open order may have taken is checked again from here on: it may end without that.
  const expected = balancesBy(held.before, held.moves, { fromBlock: known.block + 1, toBlock });
  const from = isSettled
    ? await knowledgeAt(context, known, toBlock, { agreed, expected })
    : { ...known, balances: held.before };
  return { findings, known: from, isUnfinished, withoutAllowance };
}

/**
 * What came into a block up to now would be missed until the next check by the hour, where one endpoint is behind.
 * @throws ChainReadError while the newest block is of before
 */
function assertAfter({ number, timestamp }: BlockHead, sinceMs: number): void {
  if (timestamp * 1_000 >= sinceMs) return;
  const [is, since] = [timestamp * 1_000, sinceMs].map((ms) => new Date(ms).toISOString());
  const detail = `the newest block that all endpoints have, ${number} of ${is}, is of before ${since}, when what another database did was accepted: it is read again`;
  throw new ChainReadError("malformed answer", detail);
}

/**
 * Logs and balances of two chains explain each other as little as those of two wallets.
 * @throws ChainReadError where a block was replaced while it was read: it is read again soon
 */
export async function assertStands({ deps: { chain } }: ScanContext, { number, hash }: BlockHead): Promise<void> {
  if ((await chain.block(number))?.hash === hash) return;
  throw new ChainReadError("malformed answer", `block ${number} was replaced, or is not shown, while it was read`);
}

/**
 * A node may leave logs out unnoticed: a fall of a balance that the logs do not explain proves nothing. One
 * node's false balance, today's or that of the check before, is no loss: the endpoints are asked for both together.
 * @returns with it the earlier balances, as far as they are true
 */
async function unexplainedLosses(
  context: ScanContext,
  since: KnownChain,
  seen: Moves & { readonly toBlock: number },
): Promise<{ readonly findings: readonly Finding[]; readonly before: ReadonlyMap<Address, bigint> }> {
  const { chain } = context.deps;
  const { wallet, balances, block } = since;
  const before = new Map(balances);
  const lossOf = async ([token, should]: readonly [Address, bigint]): Promise<readonly Finding[]> => {
    const reported = await chain.balance(token, wallet, seen.toBlock).catch(asReverted);
    if (reported instanceof ChainReadError) return [unreported(wallet, token, reported)];
    if (reported >= should) return [];
    const agreed = await chain.agreed();
    const kept = balances.get(token) ?? 0n;
    // Of what a person accepted as gone the nodes know nothing, where the earlier balance was read before.
    const was = smaller((await agreedBalance(agreed, wallet, { token, block })) ?? kept, kept);
    const now = (await agreedBalance(agreed, wallet, { token, block: seen.toBlock })) ?? reported;
    const expected = should - kept + was;
    before.set(token, was);
    if (now >= expected) return [];
    const [is, wanted] = [now, expected].map((raw) => exactAmount(context, token, raw));
    const text = `cannot prove what ${wallet} did: it has ${is}, and by the logs since block ${block} it should have ${wanted}; the node leaves logs out, or the token moves without them`;
    const facts = { token, now: now.toString(), expected: expected.toString() };
    const what = { wallet, token, kind: "cannot-prove", scope: "gasless" } as const;
    // A further loss is another one than what was accepted of the same block.
    return [{ key: `cannot-prove ${wallet} ${token} ${block} ${was}`, ...what, text, facts }];
  };
  const known = new Set(tokensOf(context).map(({ address }) => address));
  const wanted = balancesBy(balances, seen, { fromBlock: block + 1, toBlock: seen.toBlock });
  const findings = (await Promise.all([...wanted].filter(([token]) => known.has(token)).map(lossOf))).flat();
  return { findings, before };
}

/** @throws everything else */
function asReverted(error: unknown): ChainReadError {
  if (error instanceof ChainReadError && error.code === "reverted") return error;
  throw error;
}

/**
 * One token that refuses stops no other trading: it could only hide a loss of its own. What the wallet has by the logs is
 * counted on with, so that a loss is found once it answers.
 */
function unreported(wallet: Address, token: Address, { message }: ChainReadError): Finding {
  const text = `cannot prove what ${wallet} did with ${token}: its balance is refused (${message})`;
  const what = { wallet, token, kind: "cannot-prove", scope: "token" } as const;
  return { key: `cannot-prove balance ${wallet} ${token}`, ...what, text, facts: { token } };
}

/**
 * One node alone proves nothing: the endpoints that answer have to agree.
 * @returns undefined where they say different things
 */
async function unknownTransactions(
  context: ScanContext,
  known: KnownChain,
  saidByOne: number,
): Promise<readonly Finding[] | undefined> {
  const { wallet } = known;
  if (saidByOne <= (await nextNonce(context, known))) return [];
  const count = await agreedCount(context, wallet);
  const next = await nextNonce(context, known);
  if (count === undefined) return undefined;
  if (count <= next) return [];
  const text = `the chain counts ${count} transactions of ${wallet}, the rows know ${next}`;
  const areCoinsUnseen = context.deps.service.profile.nonceRecord === undefined;
  const facts = { count: count.toString(), known: next.toString(), ...(areCoinsUnseen && { areCoinsUnseen: "true" }) };
  const what = { key: `nonce ${wallet} ${count}`, wallet, token: undefined, kind: "nonce", scope: "wallet" } as const;
  return [{ ...what, text, facts }];
}

/** The rows are asked after the chain: they may know more by then, never less. */
async function nextNonce({ deps: { store }, settings }: ScanContext, known: KnownChain): Promise<number> {
  const { wallet: account, transactionCount } = known;
  const rows = await store.read({ kind: "lane", account, chainId: settings.chainId });
  const ours = Math.max(transactionCount, rows.highestNonce === undefined ? 0 : rows.highestNonce + 1);
  return Math.max(ours, rows.acceptedCount);
}

async function agreedCount({ deps: { chain } }: ScanContext, wallet: Address): Promise<number | undefined> {
  try {
    const agreed = await chain.agreed();
    return await agreed.transactionCount(wallet, agreed.latest.number);
  } catch (error) {
    if (error instanceof ChainReadError && error.code === "disagreement") return undefined;
    throw error;
  }
}

/** It ends by itself: nothing of it is to be accepted. */
function unfinished(wallet: Address, range: Range, upTo: number): Finding {
  const finding = unreadable(wallet, range, `read up to block ${upTo} so far, and it goes on`);
  return { ...finding, key: `${finding.key} reading`, facts: { ...finding.facts, readUpTo: upTo.toString() } };
}

function unreadable(wallet: Address, { fromBlock, toBlock }: Range, message: string): Finding {
  const text = `cannot prove what ${wallet} did: its logs of the blocks ${fromBlock} to ${toBlock} are not read back (${message})`;
  const facts = { fromBlock: fromBlock.toString(), toBlock: toBlock.toString() };
  const what = { wallet, token: undefined, kind: "cannot-prove", scope: "gasless" } as const;
  return { key: `cannot-prove ${wallet} ${fromBlock}`, ...what, text, facts };
}
