import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import { legsOf } from "../routing/legs.ts";
import { addGas, BACK_TO_ZERO_REFUND, type Gas, startGas } from "./evm-gas.ts";
import { BETWEEN_GAS, HOP_CALLDATA, TOKEN_GAS } from "./hop-gas.ts";
import { newGas, ownerGas, type SwapShape } from "./swap-gas.ts";
import { extraTokenGas } from "./token-gas.ts";

/** Beyond hops and legs: the deadline, the call's frame, the owner's token, the recipient's balance. */
const FRAME = 12_000n;
/** A call of its own, and an allowance spent once more. */
const LEG = 6_000n;
/** The bought token rests in the router, and is swept. */
const CUSTODY: Gas = { used: TOKEN_GAS.used + 9_000n, refund: TOKEN_GAS.refund };
/** Wrapping what was sent along; what is left is asked for at the end. */
const NATIVE_IN: Gas = { used: 20_000n, refund: BACK_TO_ZERO_REFUND };
const NATIVE_OUT: Gas = { used: 12_000n, refund: 0n };

/**
 * Expected gas of a swap through a public router, before what is given back at its end: hops as our own contracts perform
 * them, whose calldata is counted with the transaction's own, in the frame that receipts of the router's bytecode show.
 */
export function routerSwapGas(shape: SwapShape): Gas {
  const { route, fromAsset, toAsset, data, facts } = shape;
  const { hops } = route;
  const legs = BigInt(legsOf(hops).length);
  const refund = hops.reduce((sum, { pool }) => sum + kindOf(pool).gas.refund, 0n);
  const tokens = BigInt(new Set(hops.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut])).size);
  const between: Gas = {
    used: (tokens - 2n) * (TOKEN_GAS.used - BETWEEN_GAS),
    refund: (tokens - 2n) * TOKEN_GAS.refund,
  };
  const start = startGas(data) - BigInt(hops.length) * HOP_CALLDATA;
  const parts: Gas[] = [
    { used: start + FRAME + legs * LEG + route.gas + refund + extraTokenGas(shape), refund },
    between,
    fromAsset === NATIVE_TOKEN ? NATIVE_IN : ownerGas(shape),
    newGas(facts.recipientIsNew, toAsset),
  ];
  if (legs > 1n || toAsset === NATIVE_TOKEN) parts.push(CUSTODY);
  if (toAsset === NATIVE_TOKEN) parts.push(NATIVE_OUT);
  return addGas(...parts);
}
