import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { createRandom } from "../../../src/sandbox/market/random.ts";
import { type BesideUniswap, serveBesideUniswap } from "../support/beside-uniswap.ts";
import { expectedGas, seasonPools, summary } from "../support/gas-check.ts";
import { quoteAtHead } from "../support/quoted-swap.ts";
import { executeQuotes } from "../support/routed-swaps.ts";
import { addSlipstreamPools, deploySlipstream } from "../support/slipstream.ts";

/** `SWAPD_QUOTED_SWAPS=500` is the long form; the seed is printed with a failure. */
const SWAPS = Number(process.env.SWAPD_QUOTED_SWAPS ?? 24);
const seed = Number(process.env.SWAPD_TEST_SEED ?? randomInt(1 << 30));
const random = createRandom(seed, 0, 0x736c6970);
const UNISWAP = "uniswap-v2,uniswap-v3";

let stop: BesideUniswap["stop"];
let chain: BesideUniswap["chain"];
let market: BesideUniswap["market"];
/** Uniswap's, and the other's */
let router: Address;
let other: Address;
let client: BesideUniswap["client"];

beforeAll(async () => {
  ({ stop, chain, market, router, other, client } = await serveBesideUniswap({
    deploy: deploySlipstream,
    addPools: addSlipstreamPools,
    deployRouter: (exchange, weth) => exchange.deployRouter({ weth }),
  }));
  await seasonPools(chain, market, client);
  await seasonPools(chain, market, client, "slipstream");
}, 120_000);

afterAll(() => stop?.());

describe("of two routers", () => {
  const request = (changes: Record<string, string> = {}) => ({
    ...{ fromTokenAddress: market.usdc, toTokenAddress: market.weth, amount: "3000000000", slippage: "0.005" },
    ...{ fromAddress: chain.deployer, gasless: "false", ...changes },
  });
  const quoted = async (changes: Record<string, string>) => {
    const { status, body } = await client.get("/aggregator/quote", request(changes));
    expect({ status, body }).toMatchObject({ status: 200 });
    const route = await client.get("/aggregator/distributions", { quoteId: body.id });
    const hops: { protocol: string; fromTokenAddress: string }[] = route.body.distributions;
    return { body, target: body.targetAddress, out: BigInt(body.amountOut), hops };
  };

  test("the one that brings more net of gas is taken, whichever that is, and nothing goes through both", async () => {
    // What made the pools is in the block that is quoted from now on.
    await quoteAtHead({ chain, client }, request());
    const taken = new Set<Address>();
    const { usdc, weth } = market;
    const sales = ["300000000", "30000000000", "900000000000"].flatMap((amount) => [
      { fromTokenAddress: usdc, toTokenAddress: weth, amount },
      { fromTokenAddress: weth, toTokenAddress: usdc, amount: `${amount}0000000` },
    ]);
    for (const { amount, ...sale } of sales) {
      const alone = [];
      for (const liquiditySources of [UNISWAP, "slipstream"])
        alone.push(await quoted({ ...sale, amount, liquiditySources }));
      const both = await quoted({ ...sale, amount });
      const [uniswap, slipstream] = alone;
      expect(new Set([...alone, both].map(({ body }) => body.blockNumber)).size, "quoted of one block").toBe(1);
      expect([uniswap?.target, slipstream?.target]).toEqual([router, other]);
      const chosen = alone.find(({ target }) => target === both.target);
      expect(both.out, amount).toBe(chosen?.out);
      const rest = alone.find(({ target }) => target !== both.target);
      // All gas of a swap is worth less than a dollar here.
      const slack = sale.toTokenAddress === weth ? 10n ** 18n / 3_000n : 10n ** 6n;
      expect(both.out + slack, amount).toBeGreaterThan(rest?.out ?? 0n);
      expect(new Set(both.hops.map(({ protocol }) => protocol === "slipstream")).size, amount).toBe(1);
      taken.add(both.target);
    }
    expect(taken.size, "both are the better one somewhere").toBe(2);
  });

  test("each is named as target and in the message, and neither is paid as a recipient", async () => {
    for (const [liquiditySources, target] of [
      [UNISWAP, router],
      ["slipstream", other],
    ] as const) {
      const { body } = await quoted({ liquiditySources });
      expect(body).toMatchObject({ targetAddress: target, typedData: null, message: { router: target } });
      const { status, body: refused } = await client.get("/aggregator/quote", request({ toAddress: target }));
      expect({ status, error: refused.error }).toEqual({ status: 400, error: "RECIPIENT_FORBIDDEN" });
    }
  });

  test("Slipstream's sells coins in one leg, because it gives the rest back after a leg, and tokens in several", async () => {
    const large = {
      liquiditySources: "slipstream",
      amount: (100n * 10n ** 18n).toString(),
      toTokenAddress: market.usdc,
    };
    const tokens = await quoted({ ...large, fromTokenAddress: market.weth });
    const coins = await quoted({ ...large, fromTokenAddress: NATIVE_TOKEN });
    expect(tokens.hops.filter(({ fromTokenAddress }) => fromTokenAddress === market.weth).length).toBeGreaterThan(1);
    expect(coins.hops.filter(({ fromTokenAddress }) => fromTokenAddress === market.weth)).toHaveLength(1);
    expect(coins.out).toBeLessThan(tokens.out);
  });

  test("the allowance of the one that is taken decides what gas is expected", async () => {
    const { body } = await quoted({ liquiditySources: "slipstream" });
    const stranger = "0x00000000000000000000000000000000000b0b00";
    const without = await quoted({ liquiditySources: "slipstream", fromAddress: stranger });
    expect(await expectedGas(chain, without.body)).not.toBe(await expectedGas(chain, body));
  });
});

// After the comparison: what it sells at random may leave one of the two better at every size.
test(`quotes through either router, executed on the same state, bring what they say to the wei (seed ${seed})`, async () => {
  const world = { chain, market, router, others: [other], client };
  // One of the two is a double: what it costs says nothing of the real one.
  const { seen, deviations } = await executeQuotes(world, {
    ...{ swaps: SWAPS, seed, random, gasWithin: undefined },
    // Few of the swaps are split: a short run may have none.
    kinds: SWAPS < 200 ? ["hops", "native", "first", "other"] : ["split", "hops", "native", "first", "other"],
  });
  if (process.env.SWAPD_QUOTED_SWAPS !== undefined) {
    console.log(`of ${SWAPS}: ${JSON.stringify(seen)}; gas off by ${JSON.stringify(summary(deviations))}`);
  }
}, 600_000);
