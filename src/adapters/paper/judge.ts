import { APPROVE } from "../../domain/guard/approval.ts";
import { type DecodedSwap, grossOf, type PinnedSettlement } from "../../domain/guard/decoded-swap.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress, wordOf } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import { ONE_PPM, toPpm } from "../../domain/money/fraction.ts";
import type { Token } from "../../domain/money/token.ts";
import { afterImpact, carriedImpact, IMPACT_LASTS_SECONDS } from "../../domain/paper/own-impact.ts";
import { APPROVAL_GAS, gasUsedOf } from "../../domain/run/gas-limit.ts";
import { TRANSFER_TOPIC, WITHDRAWAL_TOPIC } from "../../domain/run/measure-fill.ts";
import type {
  AssumedHoldings,
  BlockHead,
  CallRequest,
  Chain,
  DataFee,
  SimulationOutcome,
  Watched,
} from "../../ports/chain.ts";
import type { PaperAllowance, PaperMove, PaperOutcome, PaperRows, PaperTransaction } from "../../ports/paper.ts";
import type { SwapService } from "../../ports/swap-service.ts";
import type { PaperBook } from "./paper-book.ts";

export interface JudgeDependencies {
  readonly chain: Pick<Chain, "chainId" | "simulate">;
  readonly book: PaperBook;
  readonly rows: Pick<PaperRows, "allowance" | "shifts">;
  /** decodes what is judged, and quotes where a node cannot simulate it */
  readonly service: () => Pick<SwapService, "profile" | "quote">;
  readonly pinned: PinnedSettlement;
  readonly dataFee: DataFee;
  readonly tokenOf: (address: Address) => Token | undefined;
}

/** What a transaction would have done at a block, before its gas is counted. */
interface Deed {
  readonly gasUsed: bigint;
  readonly moves: readonly PaperMove[];
  readonly allowances: readonly PaperAllowance[];
  readonly logs: PaperOutcome["logs"];
  readonly shift?: PaperOutcome["shift"];
}

type Simulated = Extract<SimulationOutcome, { kind: "ok" }>;

const EMPTY_GAS = 21_000n;

/**
 * What a transaction on paper would have done at a block: the very transaction is simulated on its state, by an account that
 * holds what it holds on paper. What own fills of its pair moved shortly before is taken off.
 * @param isNewest whether a quote of now is one of this block, where no node can simulate there
 * @returns undefined where it would not be in that block: its fee is too low, it would bring less than its minimum or come
 * after its deadline, or it is for a contract that is configured no more
 * @throws ChainReadError where the nodes do not answer
 */
export async function judge(
  deps: JudgeDependencies,
  transaction: PaperTransaction,
  { block, isNewest }: At,
): Promise<PaperOutcome | undefined> {
  const { account, hash, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (maxFeePerGas < block.baseFeePerGas) return undefined;
  const deed = await deedOf(deps, transaction, { block, isNewest });
  if (deed === undefined) return undefined;
  const { gasUsed, moves, allowances, logs, shift } = deed;
  const effectiveGasPrice = smaller(maxFeePerGas, block.baseFeePerGas + maxPriorityFeePerGas);
  const dataFee = await deps.dataFee(transaction, { gasUsed, block: block.number });
  const gas: PaperMove = { account, token: NATIVE_TOKEN, delta: -(gasUsed * effectiveGasPrice + (dataFee ?? 0n)) };
  return {
    ...{ hash, block, gasUsed, effectiveGasPrice, dataFee, allowances, logs, shift },
    moves: [...moves, gas].filter(({ delta }) => delta !== 0n),
  };
}

interface At {
  readonly block: BlockHead;
  readonly isNewest: boolean;
}

async function deedOf(deps: JudgeDependencies, transaction: PaperTransaction, at: At): Promise<Deed | undefined> {
  const { account, to, data, value, gasLimit } = transaction;
  if (to === account && data === "0x") return { gasUsed: EMPTY_GAS, moves: [], allowances: [], logs: [] };
  const proposed = { from: account, to, data, value, chainId: deps.chain.chainId, gasLimit };
  const decoding = deps.service().profile.decodeTransaction(proposed, deps.pinned);
  if (decoding.ok) return await swapDeed(deps, transaction, { ...at, swap: decoding.swap });
  if (data.startsWith(APPROVE)) return await approvalDeed(deps, transaction, at);
  // It was written down for a contract or a service of before: its lane cancels it at its deadline.
  return undefined;
}

async function approvalDeed(deps: JudgeDependencies, transaction: PaperTransaction, at: At): Promise<Deed | undefined> {
  const outcome = await simulated(deps, transaction, at);
  if (outcome.kind === "reverted" || (outcome.kind === "unavailable" && !at.isNewest)) return undefined;
  const { account: owner, to: token, data } = transaction;
  const spender = toAddress(`0x${data.slice(34, 74)}`);
  const amount = BigInt(`0x${data.slice(74, 138)}`);
  const gasUsed = outcome.kind === "ok" ? outcome.gasUsed : APPROVAL_GAS;
  return { gasUsed, moves: [], allowances: [{ token, owner, spender, amount }], logs: [] };
}

/** A swap that is judged. */
type SwapAt = At & { readonly swap: DecodedSwap };

async function swapDeed(deps: JudgeDependencies, transaction: PaperTransaction, at: SwapAt): Promise<Deed | undefined> {
  const { swap, block } = at;
  // A quote says nothing of it, and the simulation of a form that has no deadline neither.
  if (BigInt(block.timestamp) > swap.deadline) return undefined;
  const exchanged = await exchangedAt(deps, transaction, at);
  if (exchanged === undefined) return undefined;
  const pair = { sell: swap.fromAsset, buy: swap.toAsset };
  const shifts = deps.rows.shifts(pair, block.timestamp - IMPACT_LASTS_SECONDS);
  const bought = afterImpact(exchanged.bought, carriedImpact(shifts, block.timestamp));
  if (bought < swap.amountOutMin) return undefined;
  const { sold, gasUsed } = exchanged;
  const { account } = transaction;
  const ppm = await movedBy(deps, transaction, { ...at, bought: exchanged.bought });
  const isCredited = deps.book.has(swap.recipient) || deps.book.isPaid(swap.recipient);
  return {
    gasUsed,
    moves: [
      { account, token: swap.fromAsset, delta: -sold },
      ...(isCredited ? [{ account: swap.recipient, token: swap.toAsset, delta: bought }] : []),
    ],
    allowances: used(deps, account, { swap, sold }),
    logs: logsOf(deps, transaction, { swap, sold, bought }),
    shift: ppm === 0n ? undefined : { ...pair, seconds: block.timestamp, ppm },
  };
}

interface Exchanged {
  readonly sold: bigint;
  readonly bought: bigint;
  readonly gasUsed: bigint;
}

/** What the swap itself would exchange on the state of a block; undefined where it would revert, or nobody can say. */
async function exchangedAt(
  deps: JudgeDependencies,
  transaction: PaperTransaction,
  { block, isNewest, swap }: SwapAt,
): Promise<Exchanged | undefined> {
  const outcome = await simulated(deps, transaction, { block, swap });
  if (outcome.kind === "ok") return { ...netOf(outcome, transaction.account, swap), gasUsed: outcome.gasUsed };
  return outcome.kind === "reverted" || !isNewest ? undefined : await quotedNow(deps, transaction, swap);
}

function netOf({ transfers }: Simulated, owner: Address, swap: DecodedSwap): Omit<Exchanged, "gasUsed"> {
  const net = (account: Address, token: Address): bigint =>
    transfers.reduce((sum, move) => {
      if (move.token !== token) return sum;
      return sum + (move.to === account ? move.amount : 0n) - (move.from === account ? move.amount : 0n);
    }, 0n);
  return { sold: -net(owner, swap.fromAsset), bought: net(swap.recipient, swap.toAsset) };
}

/** A fresh quote of the same swap, where no node can simulate by an account that holds what it does on paper. */
async function quotedNow(
  { service, tokenOf }: JudgeDependencies,
  { account, gasLimit }: PaperTransaction,
  swap: DecodedSwap,
): Promise<Exchanged | undefined> {
  const [sell, buy] = [tokenOf(swap.fromAsset), tokenOf(swap.toAsset)];
  const [amount, fee] = [grossOf(swap), swap.affiliate?.fee ?? 0n];
  if (sell === undefined || buy === undefined) return undefined;
  const quote = await service().quote({
    ...{ sell, buy, amount: amount - fee, slippage: toPpm(0n), owner: account, recipient: swap.recipient },
    ...{ gasless: false, enableRfq: false, affiliate: undefined },
  });
  if ("kind" in quote) return undefined;
  return { sold: amount, bought: quote.amountOut, gasUsed: gasUsedOf(gasLimit) };
}

/**
 * How far the swap would move the price of its pair: by how much the same swap right after it would bring less. Where the
 * second one would fall below its minimum, at least as far as that.
 */
async function movedBy(
  deps: JudgeDependencies,
  transaction: PaperTransaction,
  { block, swap, bought }: SwapAt & { readonly bought: bigint },
): Promise<bigint> {
  if (bought <= 0n) return 0n;
  const call = callOf(transaction);
  const { account } = transaction;
  const assumed = doubled(deps.book.assumed(account, block.number), swap, deps.pinned);
  const watched = watchedBy({ account, swap, spender: spenderOf(swap, deps.pinned) });
  const twice = await deps.chain.simulate([call, call], { on: block, seconds: block.timestamp, assumed, watched });
  const second =
    twice.kind === "ok" ? netOf(twice, transaction.account, swap).bought - bought : smaller(bought, swap.amountOutMin);
  return second >= bought ? 0n : ((bought - second) * ONE_PPM + bought - 1n) / bought;
}

function doubled(
  { owner, native, balances, allowances }: AssumedHoldings,
  swap: DecodedSwap,
  pinned: PinnedSettlement,
): AssumedHoldings {
  const gross = grossOf(swap);
  const payee = spenderOf(swap, pinned);
  return {
    owner,
    native: swap.fromAsset === NATIVE_TOKEN ? native + gross : native,
    balances: balances.map(({ token, amount }) => ({
      token,
      amount: token === swap.fromAsset ? amount + gross : amount,
    })),
    allowances: allowances.map(({ token, spender, amount }) => {
      const isUsed = token === swap.fromAsset && spender === payee;
      return { token, spender, amount: isUsed ? amount + gross : amount };
    }),
  };
}

/** Who takes what is sold: the contract that the form names, where a service has several. */
function spenderOf(swap: DecodedSwap | undefined, { contracts }: PinnedSettlement): Address {
  return swap?.contracts.spender ?? contracts.spender;
}

/** What is left of the allowance that the swap was paid by. */
function used(
  { rows, pinned }: JudgeDependencies,
  owner: Address,
  { swap, sold }: { readonly swap: DecodedSwap; readonly sold: bigint },
): readonly PaperAllowance[] {
  const token = swap.fromAsset;
  if (token === NATIVE_TOKEN) return [];
  const spender = spenderOf(swap, pinned);
  const before = rows.allowance({ token, owner, spender });
  return [{ token, owner, spender, amount: before > sold ? before - sold : 0n }];
}

async function simulated(
  { chain, book, pinned }: JudgeDependencies,
  transaction: PaperTransaction,
  { block, swap }: { readonly block: BlockHead; readonly swap?: DecodedSwap },
): Promise<SimulationOutcome> {
  const { account } = transaction;
  const assumed = book.assumed(account, block.number);
  const watched = watchedBy({ account, swap, spender: spenderOf(swap, pinned) });
  return await chain.simulate([callOf(transaction)], { on: block, seconds: block.timestamp, assumed, watched });
}

function watchedBy(of: {
  readonly account: Address;
  readonly swap: DecodedSwap | undefined;
  spender: Address;
}): Watched {
  const { account, swap, spender } = of;
  if (swap === undefined) return { accounts: [account], tokens: [], spenders: [] };
  const tokens = [swap.fromAsset, swap.toAsset].filter((token) => token !== NATIVE_TOKEN);
  return { accounts: [account, swap.recipient], tokens, spenders: [spender] };
}

function callOf({ account, to, data, value }: PaperTransaction): CallRequest {
  return { from: account, to, data, value };
}

/** As its receipt would show it: what a fill is measured from, and nothing else. */
function logsOf(
  { pinned }: JudgeDependencies,
  { account, to }: PaperTransaction,
  { swap, sold, bought }: { readonly swap: DecodedSwap; readonly sold: bigint; readonly bought: bigint },
): PaperOutcome["logs"] {
  const transfer = (address: Address, [from, receiver, amount]: readonly [Address, Address, bigint]) => ({
    address,
    topics: [TRANSFER_TOPIC as Hex, wordOf(from), wordOf(receiver)],
    data: word(amount),
  });
  const out = swap.fromAsset === NATIVE_TOKEN ? [] : [transfer(swap.fromAsset, [account, to, sold])];
  if (swap.toAsset !== NATIVE_TOKEN) return [...out, transfer(swap.toAsset, [to, swap.recipient, bought])];
  const unwrapped = {
    address: pinned.wrappedNative,
    topics: [WITHDRAWAL_TOPIC as Hex, wordOf(to)],
    data: word(bought),
  };
  return [...out, unwrapped];
}

function word(amount: bigint): Hex {
  return `0x${amount.toString(16).padStart(64, "0")}`;
}
