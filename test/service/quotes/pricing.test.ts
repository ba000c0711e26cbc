import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { NO_DATA_FEES } from "../../../src/service/data-fees/data-fees.ts";
import { USUAL_FACTS } from "../../../src/service/gas/swap-gas.ts";
import type { Snapshot } from "../../../src/service/pools/snapshots.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { priceRequest } from "../../../src/service/quotes/pricing.ts";
import type { FeePrices } from "../../../src/service/relayer/fee-prices.ts";
import { bestRoute } from "../../../src/service/routing/best-route.ts";
import { createEdge } from "../../../src/service/routing/edge.ts";
import type { Router } from "../../../src/service/routing/router.ts";
import { SearchStoppedError } from "../../../src/service/routing/time-slices.ts";
import { createTimeLimit } from "../../../src/service/time-limit.ts";
import { systemClock } from "../support/system-clock.ts";

const [from, to] = [toAddress(`0x${"0a".repeat(20)}`), toAddress(`0x${"0b".repeat(20)}`)];
const WEI_PER_GAS = 10n ** 9n;
const snapshot = { head: { gasPrice: WEI_PER_GAS }, dataFees: NO_DATA_FEES.decode("", []) } as unknown as Snapshot;
const pool = { kind: 1, protocol: 0, address: to, token0: from, token1: to, feePips: 3000, tickSpacing: 0 } as const;

const fees: Pick<FeePrices, "inToken"> = {
  inToken: async (_token, wei) => ({ kind: "priced", amount: wei }),
};

function routerThatStops(second: Error): Pick<Router, "route"> {
  const paths = [[createEdge(from, to, [pairState(pool, 10n ** 22n, 10n ** 22n)])]];
  let searches = 0;
  return {
    route: async (trade) => {
      searches += 1;
      if (searches > 1) throw second;
      const best = bestRoute(paths, trade, { gasRate: undefined, readsMore: true });
      return best.kind === "found" ? best.route : undefined;
    },
  };
}

type ExtraGasOf = Awaited<ReturnType<Parameters<typeof priceRequest>[1]["extraGas"]>>;

function price(
  router: Pick<Router, "route">,
  changes: { gasless?: boolean; extraGas?: () => Promise<ExtraGasOf> } = {},
) {
  const { gasless = true, extraGas = async () => () => undefined } = changes;
  const who = { owner: undefined, recipient: undefined, affiliate: undefined, sources: undefined };
  const request = { from, to, amount: 10n ** 20n, slippage: 0n, gasless, ...who };
  const limit = createTimeLimit(60_000, systemClock);
  const known = { hasPermit: gasless, accountFacts: async () => USUAL_FACTS, extraGas };
  return priceRequest(request, {
    router,
    fees,
    snapshot,
    gasPrice: WEI_PER_GAS,
    network: { wrappedNative: to, settlement: to },
    limit,
    isComputed: () => true,
    ...known,
  });
}

test.each([false, true])(
  "what tokens use beyond usual ones is in a quote however late it is known (gasless: %s)",
  async (gasless) => {
    const extra = { call: 0, transfer: 0, first: 50_000, account: 0, pull: 0 };
    const late = () => sleep(5).then((): ExtraGasOf => () => extra);
    const priceOf = (extraGas?: () => Promise<ExtraGasOf>) =>
      price(routerThatStops(new SearchStoppedError("BUSY", "")), { gasless, ...(extraGas && { extraGas }) });
    const [usual, more] = [await priceOf(), await priceOf(late)];
    if (usual.kind !== "priced" || more.kind !== "priced") throw new Error("no price");
    // Once for each of the two tokens; as much as a fifth of it may be given back.
    expect(more.gasCost - usual.gasCost).toBeGreaterThanOrEqual(80_000n * WEI_PER_GAS);
    expect(more.gasLimit - usual.gasLimit).toBeGreaterThanOrEqual(175_000n);
    if (gasless) expect(more.swapFee - usual.swapFee).toBeGreaterThanOrEqual(100_000n * WEI_PER_GAS);
  },
);

describe("a gasless quote whose way is known before its fee", () => {
  test.each(["QUOTE_TIMEOUT", "BUSY"] as const)("holds when the search with the fee taken off is %s", async (error) => {
    const priced = await price(routerThatStops(new SearchStoppedError(error, "")));
    expect(priced).toMatchObject({ kind: "priced", route: { hops: [{ amountIn: expect.anything() }] } });
    if (priced.kind !== "priced") return;
    expect(priced.swapFee).toBeGreaterThan(0n);
    expect(priced.route.hops[0]!.amountIn).toBe(10n ** 20n - priced.swapFee);
  });

  test("falls with a node that does not answer", async () => {
    await expect(price(routerThatStops(new Error("no answer")))).rejects.toThrow("no answer");
  });
});
