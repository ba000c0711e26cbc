import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import { identityOf, type RouterForm, type RouterMaker } from "../pools/pool.ts";
import type { Route } from "../routing/best-route.ts";
import { legsOf } from "../routing/legs.ts";
import { addGas, BACK_TO_VALUE_REFUND, BACK_TO_ZERO_REFUND, type Gas, startGas } from "./evm-gas.ts";
import { BETWEEN_GAS, HOP_CALLDATA, TOKEN_GAS } from "./hop-gas.ts";
import { newGas, ownerGas, type SwapShape } from "./swap-gas.ts";
import { extraTokenGas } from "./token-gas.ts";

/** Beyond hops and legs: the deadline, the call's frame, the owner's token, the recipient's balance. */
const FRAME = 16_300n;
/** What a router does for a hop beyond our executor: it unpacks a path, and works out addresses anew. */
const ROUTED_HOP = 2_350n;
/** A call of its own after the first one; native coins are wrapped once more by each. */
const FURTHER_LEG = -2_000n;
const FURTHER_NATIVE_LEG = 13_000n;
/** What a hop after the first one of its leg costs less: pairs hand on what they bring, and nothing is looked up. */
const HANDED_ON: Readonly<Record<RouterForm, bigint>> = { v2: 16_700n, v3: 12_800n };
/** What a pool costs less that another leg has traded with before. */
const MET_AGAIN = 27_000n;
/** The bought token rests in the router, and is swept. */
const CUSTODY: Gas = { used: TOKEN_GAS.used + 700n, refund: TOKEN_GAS.refund };
/** Wrapping what was sent along; what is left is asked for at the end. */
const NATIVE_IN: Gas = { used: 24_400n, refund: BACK_TO_ZERO_REFUND };
const NATIVE_OUT: Gas = { used: 10_500n, refund: 0n };

/** What a router costs beyond Uniswap's SwapRouter02, which all of the above was measured with. */
interface MakerGas {
  readonly swap: Gas;
  readonly furtherLeg: bigint;
  readonly hop: Readonly<Record<RouterForm, bigint>>;
}

const NOTHING: Gas = { used: 0n, refund: 0n };

/**
 * PancakeSwap's takes a lock for each leg and works out addresses in a library, which it calls; its pairs are asked for
 * balances. Slipstream's looks at its lock after each leg; what all of its hops meet (factory, module, what pools are proxies
 * of) is counted with each hop, and cold once. Solidly's asks a registry, the factory and the pool at each hop, several times.
 * From receipts of their sources, compiled with their own settings: no package has the deployed bytecode of any of them.
 */
const MAKER_GAS: Readonly<Record<RouterMaker, MakerGas>> = {
  uniswap: { swap: NOTHING, furtherLeg: 0n, hop: { v2: 0n, v3: 0n } },
  pancakeswap: {
    swap: { used: 5_000n + BACK_TO_VALUE_REFUND, refund: BACK_TO_VALUE_REFUND },
    furtherLeg: 1_700n,
    hop: { v2: 5_450n, v3: 4_300n },
  },
  slipstream: { swap: { used: 14_300n, refund: 0n }, furtherLeg: 7_500n, hop: { v2: 0n, v3: -22_900n } },
  solidly: { swap: { used: 9_100n, refund: 0n }, furtherLeg: 0n, hop: { v2: 27_200n, v3: 0n } },
};

/**
 * Expected gas of a swap through a public router, before what is given back at its end: hops as our own contracts perform
 * them, in the frame that receipts of the router's bytecode show (`routed-then-executed.test.ts` prints how far it is off).
 */
export function routerSwapGas(shape: SwapShape): Gas {
  const { fromAsset, toAsset, data, facts, route } = shape;
  const isNativeIn = fromAsset === NATIVE_TOKEN;
  const legs = legsOf(route.hops).length;
  const used = startGas(data) - BigInt(route.hops.length) * HOP_CALLDATA + FRAME + extraTokenGas(shape);
  const further = BigInt(legs - 1) * (isNativeIn ? FURTHER_NATIVE_LEG : FURTHER_LEG);
  const parts: Gas[] = [
    { used: used + further, refund: 0n },
    routeGas(route),
    isNativeIn ? NATIVE_IN : ownerGas(shape),
    newGas(facts.recipientIsNew, toAsset),
    makerGas(route),
  ];
  if (legs > 1 || toAsset === NATIVE_TOKEN) parts.push(CUSTODY);
  if (toAsset === NATIVE_TOKEN) parts.push(NATIVE_OUT);
  return addGas(...parts);
}

function makerGas({ hops }: Pick<Route, "hops">): Gas {
  const forms = hops.map(({ pool }) => kindOf(pool).router);
  const own = MAKER_GAS[forms[0]?.maker ?? "uniswap"];
  const further = BigInt(legsOf(hops).length - 1) * own.furtherLeg;
  const ofHops = forms.reduce((sum, hop) => sum + own.hop[hop?.form ?? "v3"], 0n);
  return { used: own.swap.used + further + ofHops, refund: own.swap.refund };
}

/** The hops, and the tokens between them, which rest in the router on their way. */
function routeGas({ hops, gas }: Pick<Route, "hops" | "gas">): Gas {
  const refund = hops.reduce((sum, { pool }) => sum + kindOf(pool).gas.refund, 0n);
  const handedOn = legsOf(hops).flatMap((leg) => leg.slice(1));
  const saved = handedOn.reduce((sum, { pool }) => sum + HANDED_ON[kindOf(pool).router?.form ?? "v3"], 0n);
  const metAgain = BigInt(hops.length - new Set(hops.map(({ pool }) => identityOf(pool))).size);
  const between = BigInt(new Set(handedOn.map(({ tokenIn }) => tokenIn)).size);
  const rested = between * (TOKEN_GAS.used - BETWEEN_GAS);
  return {
    used: gas + refund + BigInt(hops.length) * ROUTED_HOP + rested - saved - metAgain * MET_AGAIN,
    refund: refund + between * TOKEN_GAS.refund,
  };
}
