import { expect, it } from "vitest";
import { readReference } from "../../../src/engine/perform/read-reference.ts";
import type { OutputRequest, OutputSource, PriceMissing } from "../../../src/ports/price-source.ts";
import { ETH, HUNDRED_USDC, NOW_MS, priceOf, USDC, WETH } from "../../support/builders.ts";
import { createOutside, openLife } from "../../support/engine-life.ts";
import { quoteSample, swapIn } from "../../support/reading-samples.ts";

const swap = swapIn("quoted");

function contextWith(deps: { missing?: PriceMissing; secondService?: OutputSource }) {
  const { context } = openLife(createOutside(NOW_MS));
  const { missing } = deps;
  const prices = {
    price: async (token: typeof USDC) => (missing !== undefined && token.symbol === "WETH" ? missing : priceOf(token)),
  };
  return { ...context, deps: { ...context.deps, prices, secondService: deps.secondService } };
}

it.each([
  ["stale", "REFERENCE_MISSING"],
  ["unreachable", "REFERENCE_MISSING"],
  ["invalid", "REFERENCE_MISSING"],
  ["not configured", "REFERENCE_MISSING"],
  ["divergent", "REFERENCE_DIVERGES"],
  ["sequencer down", "SEQUENCER_DOWN"],
] as const)("GRD-11 a price that is missing because it is %s becomes %s, with its reason", async (missing, code) => {
  const context = contextWith({ missing: { missing, detail: "as the source says" } });
  const { sellPrice, buyPrice, nativePrice, priceFaults } = await readReference(context, swap, HUNDRED_USDC);
  expect([sellPrice, buyPrice, nativePrice]).toEqual([priceOf(USDC), undefined, priceOf(ETH)]);
  expect(priceFaults).toEqual([{ token: WETH.address, code, detail: `${missing}: as the source says` }]);
});

it("GRD-14 a second service is asked for exactly what was quoted, and its silence is not passed over", async () => {
  const asked: OutputRequest[] = [];
  const answering = (answer: Awaited<ReturnType<OutputSource["output"]>>): OutputSource => ({
    output: async (request) => {
      asked.push(request);
      return answer;
    },
  });
  const read = async (secondService?: OutputSource) => {
    const context = contextWith(secondService === undefined ? {} : { secondService });
    return (await readReference(context, { ...swap, quote: quoteSample(swap) }, HUNDRED_USDC)).secondOutput;
  };
  expect(await read()).toBeUndefined();
  expect(await read(answering({ amountOut: 5n, source: "second" }))).toEqual({
    ...{ kind: "quoted", amountOut: 5n, source: "second" },
  });
  expect(await read(answering({ missing: "unreachable", detail: "HTTP 500" }))).toEqual({
    ...{ kind: "missing", detail: "unreachable: HTTP 500" },
  });
  const { wallet, recipient } = swap;
  expect(asked[0]).toEqual({
    ...{
      sell: USDC,
      buy: WETH,
      amount: HUNDRED_USDC,
      owner: wallet,
      recipient,
      slippage: quoteSample(swap).slippagePpm,
    },
  });
});
