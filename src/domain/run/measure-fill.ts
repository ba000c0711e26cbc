import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../money/address.ts";
import { smaller } from "../money/bigint.ts";
import type { Fill, Swap } from "./run.ts";
import { executionsIn } from "./safe-executions.ts";

/** The parts of a receipt that a fill is measured from. */
export interface FillReceipt {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly succeeded: boolean;
  readonly gasUsed: bigint;
  /** wei paid per gas */
  readonly effectiveGasPrice: bigint;
  /** wei that a rollup charged on top of gas: for the transaction's data, and for its operator; absent: it reports none */
  readonly dataFee?: bigint;
  /** Unix seconds of its block; no receipt carries it: the reader of the block adds it */
  readonly blockTimeSeconds?: number;
  /** other swaps of ours that it fills and that share a side with the measured one; the reader of the rows adds them */
  readonly beside?: readonly TradedBeside[];
  readonly logs: readonly { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** The sides of a swap: who sells and who receives. */
export interface TradedBeside {
  readonly wallet: Address;
  readonly sell: Address;
  readonly recipient: Address;
  readonly buy: Address;
}

/** keccak-256 of `Transfer(address,address,uint256)` */
export const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** keccak-256 of `Withdrawal(address,uint256)`, the wrapped native token's event when it is unwrapped */
export const WITHDRAWAL_TOPIC = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65";

/**
 * Measures what a mined swap exchanged, from its receipt alone.
 *
 * Sold: transfers of the sold token out of the wallet less those back into it; a native sale is the transaction's
 * value, which the caller gives. Bought: transfers of the bought token to the recipient less those away from it; native
 * tokens bought are what the wrapped token paid out in this transaction, as far as it was for the recipient.
 *
 * A settlement reverts unless it took what it sold and the recipient got the minimum. Where the logs show less than
 * that, a node left some out, or a token moves without them: then the fill is `assumed`, and its amounts are the worst
 * that was signed. Sold is the whole gross amount, so that no budget is spent twice, and bought the minimum: it is
 * there for certain, so that nothing is sold that is not there. Where more is shown of either, that counts.
 *
 * Owners of a Safe may have executed more in the same transaction: what the proposal's own execution moved counts, where
 * that is one for certain, by its hash or as the one that sold exactly the amount.
 *
 * A transaction that fills several swaps of ours moves one token for two of them where they deliver to one recipient, or
 * one sells what the other buys: what came for the other does not lower what was sold, what left for it does not lower
 * what was bought, and of several payments to the recipient the smallest that is enough counts. It takes one token of a
 * wallet for two of them where a fork took one back whose token was signed for again: each took what was signed at most.
 */
export function measureFill(receipt: FillReceipt, swap: Measured, native: Native): Fill {
  const executions = swap.proposal === undefined ? [] : executionsIn(receipt.logs, swap.wallet);
  if (executions.length < 2) return measureLogs(receipt, swap, native);
  // What fills another swap of ours is another execution, whose logs are not these.
  const { beside: _, ...alone } = receipt;
  const fills = executions.map(({ logs, hash }) => ({ hash, fill: measureLogs({ ...alone, logs }, swap, native) }));
  const asked = fills.find(({ hash }) => hash !== undefined && hash === swap.signatures?.swapDigest);
  const exact = fills.filter(({ fill }) => fill.assumed !== true && fill.sold === swap.gross);
  const own = asked ?? (exact.length === 1 ? exact[0] : undefined);
  return own?.fill ?? measureLogs(receipt, swap, native);
}

type Measured = Pick<
  Swap,
  "wallet" | "recipient" | "sell" | "buy" | "mode" | "gross" | "terms" | "proposal" | "signatures"
>;

interface Native {
  readonly wrapped: Address;
  readonly value: bigint;
}

function measureLogs(receipt: FillReceipt, swap: Measured, native: Native): Fill {
  const amountOutMin = swap.terms?.amountOutMin ?? 0n;
  const sold = swap.sell.address === NATIVE_TOKEN ? native.value : soldTokens(receipt, swap);
  const bought =
    swap.buy.address === NATIVE_TOKEN
      ? unwrapped(receipt, { ...swap, wrapped: native.wrapped }, amountOutMin)
      : boughtTokens(receipt, swap, amountOutMin);
  const gross = swap.gross ?? 0n;
  const isShown = sold > 0n && bought > 0n && bought >= amountOutMin;
  return {
    hash: receipt.hash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    blockTimeSeconds: receipt.blockTimeSeconds,
    sold: isShown || sold > gross ? sold : gross,
    bought: isShown || bought > amountOutMin ? bought : amountOutMin,
    ...(isShown ? {} : { assumed: true }),
    gasCost: isPaidByOthers(swap) ? 0n : receipt.gasUsed * receipt.effectiveGasPrice + (receipt.dataFee ?? 0n),
  };
}

/** A relayer, or the owner who executes what was proposed to a Safe, pays for the gas. */
function isPaidByOthers({ mode, proposal }: Pick<Swap, "mode" | "proposal">): boolean {
  return mode === "gasless" || proposal !== undefined;
}

type Sides = Pick<Swap, "wallet" | "recipient" | "sell" | "buy">;

/** What comes back may be what another one bought. */
function soldTokens(
  receipt: FillReceipt,
  { sell: { address: token }, wallet, gross }: Sides & Pick<Swap, "gross">,
): bigint {
  const isBoughtBeside = receipt.beside?.some(({ recipient, buy }) => recipient === wallet && buy === token) ?? false;
  const back = isBoughtBeside ? 0n : sumOf(transfers(receipt, token, { holder: wallet, side: 2 }));
  const sold = sumOf(transfers(receipt, token, { holder: wallet, side: 1 })) - back;
  const isSoldBeside = receipt.beside?.some((other) => other.wallet === wallet && other.sell === token) ?? false;
  return isSoldBeside && gross !== undefined ? smaller(sold, gross) : sold;
}

function boughtTokens(receipt: FillReceipt, { buy: { address: token }, recipient }: Sides, least: bigint): bigint {
  const paid = transfers(receipt, token, { holder: recipient, side: 2 });
  const rivals = rivalsOf(receipt, { token, recipient });
  const isSoldBeside = receipt.beside?.some(({ wallet, sell }) => wallet === recipient && sell === token) ?? false;
  const away = isSoldBeside ? 0n : sumOf(transfers(receipt, token, { holder: recipient, side: 1 }));
  return (rivals === 0 ? sumOf(paid) : besideRivals(paid, rivals, least)) - away;
}

/** How many other swaps of ours one transaction pays at the same place. */
function rivalsOf({ beside }: FillReceipt, to: { readonly token: Address; readonly recipient: Address }): number {
  return beside?.filter(({ recipient, buy }) => recipient === to.recipient && buy === to.token).length ?? 0;
}

/** What was paid out for several together says of each that it got its minimum, and no more. */
function besideRivals(paid: readonly bigint[], rivals: number, least: bigint): bigint {
  return paid.length > rivals ? ofSeveral(paid, least) : smaller(sumOf(paid), least);
}

/** The amounts of a token that left (topic 1) or reached (topic 2) somebody. */
function transfers(
  { logs }: FillReceipt,
  token: Address,
  { holder, side }: { readonly holder: Address; readonly side: 1 | 2 },
): readonly bigint[] {
  return logs
    .filter(({ address, topics }) => address === token && topics[0] === TRANSFER_TOPIC && topics.length === 3)
    .filter(({ topics }) => addressOfTopic(topics[side]) === holder)
    .map(({ data }) => loggedAmount(data));
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/**
 * Whoever unwraps in the same transaction, as other orders of a batch do, writes the same log: none tells who was paid. A
 * wrapped token without that event reports a transfer to the zero address (Arbitrum's, by `aeWETH.sol` of its token bridge).
 */
function unwrapped(
  receipt: FillReceipt,
  { wrapped, recipient }: { readonly wrapped: Address; readonly recipient: Address },
  least: bigint,
): bigint {
  const withdrawn = receipt.logs
    .filter(({ address, topics }) => address === wrapped && topics[0] === WITHDRAWAL_TOPIC)
    .map(({ data }) => loggedAmount(data));
  const burnt = transfers(receipt, wrapped, { holder: NATIVE_TOKEN, side: 2 });
  return besideRivals(
    withdrawn.length > 0 ? withdrawn : burnt,
    rivalsOf(receipt, { token: NATIVE_TOKEN, recipient }),
    least,
  );
}

/**
 * What of several payments is one order's: the least that was paid out at once, and that is enough for it. Where no payment
 * alone is enough, and all together are, the minimum was paid for certain.
 */
function ofSeveral(paid: readonly bigint[], least: bigint): bigint {
  const total = sumOf(paid);
  if (least === 0n) return total;
  const enough = paid.filter((amount) => amount >= least);
  return enough.reduce(smaller, enough[0] ?? smaller(total, least));
}

/** The first word of a log's data, an amount; 0 where there is none: a token may write what it wants. */
export function loggedAmount(data: Hex): bigint {
  return /^0x[0-9a-f]{64}/i.test(data) ? BigInt(data.slice(0, 66)) : 0n;
}

function addressOfTopic(topic: Hex | undefined): Address | undefined {
  return topic === undefined ? undefined : toAddress(`0x${topic.slice(26)}`);
}
