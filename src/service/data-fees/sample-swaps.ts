import { id, Transaction } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { uniswapV3 } from "../pools/uniswap-v3/kind.ts";
import type { Hop } from "../routing/plan.ts";
import { encodeSwap, encodeSwapWithSignature } from "../settlement/calldata.ts";
import type { SwapOrder } from "../settlement/order.ts";
import type { SwapShape } from "./data-fees.ts";

/** Hops of the two sizes of sample; a fee for another number of hops lies on the line through theirs. */
const FEW_HOPS = 1;
const MANY_HOPS = 9;

/** The samples' shapes, in the order of all lists of them. */
export const SAMPLE_SHAPES: readonly SwapShape[] = [false, true].flatMap((gasless) =>
  [FEW_HOPS, MANY_HOPS].map((hops) => ({ gasless, hops })),
);

/** Bytes as random as addresses and signatures are, so that samples compress as real swaps do; always the same. */
function bytes(name: string, count: number): Hex {
  const digits = `${id(name)}${id(`${name}, more`).slice(2)}${id(`${name}, the rest`).slice(2)}`;
  return digits.slice(0, 2 + 2 * count) as Hex;
}

const address = (name: string): Address => toAddress(bytes(name, 20));
const number = (name: string, count: number): bigint => BigInt(bytes(name, count));

const DEADLINE = 2n ** 31n;

function sampleOrder({ gasless }: SwapShape): SwapOrder {
  return {
    recipient: address("recipient"),
    fromAsset: address("token 0"),
    toAsset: address("token 1"),
    deadline: DEADLINE,
    amountOutMin: number("amountOutMin", 9),
    swapFee: gasless ? number("swapFee", 6) : 0n,
    amountIn: number("amountIn", 9),
    nonce: gasless ? number("nonce", 32) : 0n,
    affiliate: NATIVE_TOKEN,
    affiliateFee: 0n,
  };
}

function sampleHops({ hops }: SwapShape): readonly Hop[] {
  return Array.from({ length: hops }, (_, index): Hop => {
    const [token0, token1] = [address(`token ${index % 3}`), address(`token ${(index % 3) + 1}`)];
    const place = { address: address(`pool ${index}`), token0, token1 };
    return {
      pool: { kind: uniswapV3.number, protocol: 1, ...place, feePips: 500, tickSpacing: 10 },
      tokenIn: token0,
      tokenOut: token1,
      portion: number(`portion ${index}`, 7),
      amountIn: 0n,
      amountOut: 0n,
    };
  });
}

/** Calldata as a swap of this shape has it; a gasless one with a permit, as most of them are. */
export function sampleCalldata(shape: SwapShape): Hex {
  const [order, hops] = [sampleOrder(shape), sampleHops(shape)];
  if (!shape.gasless) return encodeSwap(order, hops);
  const permit = {
    value: number("value", 9),
    deadline: DEADLINE,
    v: 27,
    r: bytes("permit r", 32),
    s: bytes("permit s", 32),
  };
  return encodeSwapWithSignature({ owner: address("owner"), order, signature: bytes("signature", 65), permit }, hops);
}

/** Digits of fields that are not known before a transaction is signed: as long as they get. */
const LONG_NONCE = 2 ** 24;
const LONG_FEE = 2n ** 40n;

/** The bytes that such a transaction publishes, without its signature. */
export function unsignedBytes(transaction: { chainId: number; to: Address; data: Hex; gasLimit: bigint }): Hex {
  const fees = { nonce: LONG_NONCE, maxFeePerGas: LONG_FEE, maxPriorityFeePerGas: LONG_FEE };
  return Transaction.from({ type: 2, value: 0n, ...fees, ...transaction }).unsignedSerialized as Hex;
}

/** What a swap's shape makes of the samples' figures, which are in the order of {@link SAMPLE_SHAPES}; rounded up. */
export function onTheLine(figures: readonly bigint[]): (shape: SwapShape) => bigint {
  return ({ gasless, hops }) => {
    const [few = 0n, many = 0n] = gasless ? figures.slice(2) : figures;
    const [rise, run] = [(many - few) * BigInt(hops - FEW_HOPS), BigInt(MANY_HOPS - FEW_HOPS)];
    return rise <= 0n ? few : few + (rise + run - 1n) / run;
  };
}
