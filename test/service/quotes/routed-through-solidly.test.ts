import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { type BesideUniswap, serveBesideUniswap } from "../support/beside-uniswap.ts";
import { seasonPools, summary } from "../support/gas-check.ts";
import { execute, quoteAtHead } from "../support/quoted-swap.ts";
import { executeQuotes } from "../support/routed-swaps.ts";
import { addSolidlyPools, deploySolidly } from "../support/solidly.ts";
import { balanceOf } from "../support/wallet.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 16);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x736f6c69);

let stop: BesideUniswap["stop"];
let chain: BesideUniswap["chain"];
let market: BesideUniswap["market"];
/** Uniswap's, and the other's */
let router: Address;
let other: Address;
let client: BesideUniswap["client"];

beforeAll(async () => {
  ({ stop, chain, market, router, other, client } = await serveBesideUniswap({
    deploy: deploySolidly,
    addPools: addSolidlyPools,
    deployRouter: (exchange, weth) => exchange.deployRouter(weth),
  }));
  await seasonPools(chain, market, client);
}, 120_000);

afterAll(() => stop?.());

test(`quotes through either router, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const world = { chain, market, router, others: [other], client };
  // One of the two is a double: what it costs says nothing of the real one.
  const { seen, deviations } = await executeQuotes(world, {
    ...{ swaps: SWAPS, seed, random, gasWithin: undefined },
    kinds: ["hops", "native", "other"],
  });
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS}: ${JSON.stringify(seen)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
}, 600_000);

describe("Solidly's router", () => {
  const quoted = async (changes: Record<string, string>) => {
    const { status, body } = await client.get("/aggregator/quote", {
      ...{ amount: "3000000000", slippage: "0.005", fromAddress: chain.deployer, gasless: "false" },
      ...{ liquiditySources: "solidly", ...changes },
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    const route = await client.get("/aggregator/distributions", { quoteId: body.id });
    const hops: { protocol: string; fromTokenAddress: string }[] = route.body.distributions;
    return { body, hops };
  };

  test("sells all in one leg, also what would bring more in two", async () => {
    const { usdc, usdt } = market;
    const sale = { fromTokenAddress: usdc, toTokenAddress: usdt, amount: (300_000n * 10n ** 6n).toString() };
    const { body, hops } = await quoted(sale);
    expect(body.targetAddress).toBe(other);
    expect(hops.filter(({ fromTokenAddress }) => fromTokenAddress === usdc)).toHaveLength(1);
  });

  test("is told which of two pools of two tokens is meant, and pays what that one does", async () => {
    const { usdc, usdt, dai } = market;
    for (const toTokenAddress of [usdt, dai]) {
      const asked = { fromTokenAddress: usdc, toTokenAddress, amount: "90000000000", liquiditySources: "solidly" };
      const { quote, transaction } = await quoteAtHead(
        { chain, client },
        {
          ...{ ...asked, slippage: "0.005", fromAddress: chain.deployer, gasless: "false" },
        },
      );
      const before = await balanceOf(chain, toTokenAddress, chain.deployer);
      expect((await execute(chain, transaction)).isDone).toBe(true);
      expect((await balanceOf(chain, toTokenAddress, chain.deployer)) - before).toBe(BigInt(quote.amountOut));
    }
  });

  test("answers nothing to a swap that is tried, which is said of it, and what it would pay is not", async () => {
    const { body } = await quoted({ fromTokenAddress: market.usdc, toTokenAddress: market.usdt, simulate: "true" });
    expect(body).toMatchObject({
      targetAddress: other,
      simulation: { status: "skipped", funded: true, approved: true },
    });
    expect(body.simulation.reason).toBe("it works, but its router does not say what it pays");
  });

  test("takes coins, pays coins, and goes over pools of both sorts one after the other", async () => {
    const { usdc, dai, weth } = market;
    const { hops } = await quoted({ fromTokenAddress: NATIVE_TOKEN, toTokenAddress: dai, amount: String(10n ** 18n) });
    expect(hops.map(({ fromTokenAddress }) => fromTokenAddress)).toEqual([weth, usdc]);
    const out = await quoted({ fromTokenAddress: usdc, toTokenAddress: NATIVE_TOKEN });
    expect(out.body).toMatchObject({ targetAddress: other, message: { router: other } });
  });
});
