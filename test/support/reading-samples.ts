import type { DecodedSwap } from "../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../../src/domain/money/address.ts";
import { lessShareUp, toPpm } from "../../src/domain/money/fraction.ts";
import { isNative } from "../../src/domain/money/token.ts";
import type { ClearanceReading, GaslessObservation } from "../../src/domain/run/events.ts";
import { type FillReceipt, TRANSFER_TOPIC } from "../../src/domain/run/measure-fill.ts";
import type { Swap, SwapQuote } from "../../src/domain/run/run.ts";
import type { SwapState } from "../../src/domain/run/states.ts";
import { ETH, GWEI, NOW_MS, POOL, priceOf, RELAYER, ROUTER, swapSample, worth } from "./builders.ts";
import { typeHash } from "./typed-data-digest.ts";

/** What service and chain say of a sample swap, all of it in order unless it is changed. */

type Traded = Pick<Swap, "sell" | "buy" | "gross" | "wallet" | "recipient">;

/** A firm quote at the sample prices, without a spread. */
export function quoteSample(swap: Traded, change: Partial<SwapQuote> = {}): SwapQuote {
  return {
    id: "quote_1",
    amountOut: worth(swap.gross ?? 0n, swap.sell, swap.buy),
    targetAddress: ROUTER,
    expiresAtSeconds: Math.floor(NOW_MS / 1_000) + 20,
    receivedAtMs: NOW_MS,
    slippagePpm: 5_000n,
    typedData: undefined,
    priceImpactPpm: 500n,
    ...change,
  };
}

/** What the pinned decoder would read from an honest answer. */
export function decodedFor(swap: Swap, change: Partial<DecodedSwap> = {}): DecodedSwap {
  const gasless = swap.mode === "gasless";
  const swapFee = gasless ? (swap.gross ?? 0n) / 200n : 0n;
  return {
    contracts: oneContract(ROUTER),
    sender: gasless ? RELAYER : undefined,
    recipient: swap.recipient,
    fromAsset: swap.sell.address,
    toAsset: swap.buy.address,
    deadline: BigInt(Math.floor(NOW_MS / 1_000) + 60),
    amountOutMin: lessShareUp(swap.quote?.amountOut ?? 0n, toPpm(5_000)),
    swapFee,
    amountIn: (swap.gross ?? 0n) - swapFee,
    nonce: gasless ? 7n : undefined,
    affiliate: undefined,
    permitValue: undefined,
    ...change,
  };
}

/** A reading with which every check of this quoted swap passes. */
export function readingFor(swap: Swap, change: Partial<ClearanceReading> = {}): ClearanceReading {
  const gasless = swap.mode === "gasless";
  const gross = swap.gross ?? 0n;
  const out = swap.quote?.amountOut ?? 0n;
  return {
    lastFreed: undefined,
    sellPrice: priceOf(swap.sell),
    buyPrice: priceOf(swap.buy),
    nativePrice: priceOf(ETH),
    ...{ priceFaults: [], secondOutput: undefined, roundTrip: undefined },
    head: { number: 100, timestampSeconds: Math.floor(NOW_MS / 1_000), baseFeePerGas: GWEI },
    fillFrom: 96,
    priorityFee: GWEI / 10n,
    balance: gross * 10n,
    nativeBalance: 10n ** 20n,
    nonceUsed: gasless ? false : undefined,
    allowance: gasless && !isNative(swap.sell) ? 0n : gross,
    standing: undefined,
    decoding: { ok: true, swap: decodedFor(swap) },
    transaction: gasless
      ? undefined
      : {
          from: swap.wallet,
          to: ROUTER,
          data: "0xabcd",
          value: isNative(swap.sell) ? gross : 0n,
          chainId: 31_337,
          gasLimit: undefined,
        },
    simulation: {
      kind: "ok",
      gasUsed: 120_000n,
      transfers: [
        { token: swap.sell.address, from: swap.wallet, to: ROUTER, amount: gross },
        { token: swap.buy.address, from: POOL, to: swap.recipient, amount: out },
      ],
      approvals: [],
    },
    gasLimit: gasless ? 0n : 200_000n,
    approval: undefined,
    signing: gasless ? signingSample(gross) : undefined,
    permitProblem: undefined,
    ...change,
  };
}

export function signingSample(value: bigint): NonNullable<ClearanceReading["signing"]> {
  return {
    swap: {
      typedData: JSON.stringify({ domain: { verifyingContract: ROUTER }, primaryType: "Swap" }),
      digest: hash("5a"),
    },
    permit: {
      typedData: JSON.stringify({ primaryType: "Permit", message: { spender: ROUTER } }),
      digest: hash("5b"),
      deadlineSeconds: Math.floor(NOW_MS / 1_000) + 60,
      value,
    },
  };
}

/** The approval that a reading asks for, of the exact amount. */
export function approvalSample(swap: Swap): NonNullable<ClearanceReading["approval"]> {
  return { to: swap.sell.address, data: "0x095ea7b3", amount: swap.gross ?? 0n, gasLimit: 120_000n };
}

/** A 32-byte value made of one repeated byte. */
export function hash(byte: string): Hex {
  return `0x${byte.repeat(32)}`;
}

/** A 32-byte value that is different for each number. */
export function byteHash(number: number): Hex {
  return `0x${number.toString(16).padStart(64, "0")}`;
}

export function topicOf(address: Address): Hex {
  return `0x${"0".repeat(24)}${address.slice(2)}`;
}

type ReceiptLog = FillReceipt["logs"][number];

export function transferLog(move: { token: Address; from: Address; to: Address; amount: bigint }): ReceiptLog {
  return {
    address: move.token,
    topics: [TRANSFER_TOPIC, topicOf(move.from), topicOf(move.to)],
    data: `0x${move.amount.toString(16).padStart(64, "0")}`,
  };
}

export function withdrawalLog(token: Address, amount: bigint): ReceiptLog {
  return {
    address: token,
    topics: [typeHash("Withdrawal(address,uint256)") as Hex, topicOf(ROUTER)],
    data: `0x${amount.toString(16).padStart(64, "0")}`,
  };
}

/** A receipt in which the swap sold its gross amount and got what its quote promised. */
export function receiptFor(swap: Swap, change: Partial<FillReceipt> = {}): FillReceipt {
  const out = swap.quote?.amountOut ?? worth(swap.gross ?? 0n, swap.sell, swap.buy);
  const sold = { token: swap.sell.address, from: swap.wallet, to: ROUTER, amount: swap.gross ?? 0n };
  const bought = { token: swap.buy.address, from: POOL, to: swap.recipient, amount: out };
  return {
    hash: hash("ee"),
    blockNumber: 101,
    blockHash: hash("b1"),
    succeeded: true,
    gasUsed: 110_000n,
    effectiveGasPrice: GWEI,
    logs: [transferLog(sold), transferLog(bought)],
    ...change,
  };
}

/** A chain that shows nothing of the swap yet: no fill, nonce unused, deadlines ahead. */
export function observationSample(change: Partial<GaslessObservation> = {}): GaslessObservation {
  const seconds = Math.floor(NOW_MS / 1_000);
  return {
    latest: { number: 105, timestampSeconds: seconds + 5 },
    finalized: { number: 100, timestampSeconds: seconds },
    fill: undefined,
    nonceUsed: false,
    allowance: 0n,
    serviceStatus: undefined,
    ...change,
  };
}

/** A swap as it stands in a state that it reached on the straight way. */
export function swapIn(state: SwapState, change: Partial<Swap> = {}): Swap {
  const mode = change.mode ?? "self-executed";
  const planned = swapSample(mode === "gasless" ? { gasless: "prefer", ...change } : change);
  if (state === "planned") return planned;
  const quoted = { ...planned, state: "quoted" as const, mode, quote: quoteSample(planned), ...change };
  if (state === "quoted" || state === "skipped" || state === "denied") return { ...quoted, state };
  const bound = { ...quoted, ...termsFor(quoted), ...change, state };
  if (state === "approving") return { ...bound, approvals: 1, intentId: `${bound.id}.approve1`, ...change, state };
  const executed = mode === "gasless" ? { signatures: signaturesFor(state) } : { intentId: `${bound.id}.swap` };
  const hasFill = state === "mined" || state === "confirmed" || state === "final";
  return { ...bound, ...executed, fill: hasFill ? fillFor(bound) : undefined, ...change, state };
}

function termsFor(swap: Swap): Pick<Swap, "terms"> {
  const { amountOutMin, swapFee, deadline, nonce } = decodedFor(swap);
  return {
    terms: {
      contracts: oneContract(ROUTER),
      amountOutMin,
      swapFee,
      deadlineSeconds: Number(deadline),
      nonce,
      fromBlock: 100,
      affiliateFee: 0n,
    },
  };
}

function signaturesFor(state: SwapState): NonNullable<Swap["signatures"]> {
  const isSigned = state !== "cleared";
  const { swap, permit } = signingSample(0n);
  return {
    swapDigest: swap.digest,
    swapSignature: isSigned ? hash("51") : undefined,
    permitDigest: permit?.digest,
    permitSignature: isSigned ? hash("52") : undefined,
    permitDeadlineSeconds: permit?.deadlineSeconds,
  };
}

function fillFor(swap: Swap): NonNullable<Swap["fill"]> {
  const receipt = receiptFor(swap);
  return {
    hash: receipt.hash,
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    sold: swap.gross ?? 0n,
    bought: swap.quote?.amountOut ?? 0n,
    gasCost: swap.mode === "gasless" ? 0n : receipt.gasUsed * receipt.effectiveGasPrice,
    blockTimeSeconds: undefined,
  };
}
