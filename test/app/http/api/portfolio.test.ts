import { expect, it } from "vitest";
import { describePortfolio } from "../../../../src/app/http/api/describe-portfolio.ts";
import { createMoneyHandlers } from "../../../../src/app/http/api/money-handlers.ts";
import { readExternal } from "../../../../src/app/http/api/read-external.ts";
import { type Held, ownCoins } from "../../../../src/app/http/api/read-held.ts";
import { ChainReadError } from "../../../../src/domain/chain-read-error.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../../src/domain/money/address.ts";
import { parseUsd, type UsdPrice } from "../../../../src/domain/money/price.ts";
import { loaded, REBALANCE, WALLET } from "../../../config/project.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

const COLD = toAddress(`0x${"c0".repeat(20)}`);
const HEAD = { number: 7, hash: "0x00" as const, timestamp: 1, baseFeePerGas: 1n };

/** A mix of the wallet alone, or with what lies elsewhere. */
function mixed(external = "", mix = REBALANCE) {
  const files = {
    "strategies/mix.yaml": `${mix}${external}`,
    "wallet.json": JSON.stringify({ address: WALLET.slice(2) }),
  };
  const configuration = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const token = (symbol: string): Address => configuration.tokens.get(symbol)?.token.address ?? toAddress(WALLET);
  const balances = new Map([
    [token("USDC"), 4_000_000_000n],
    [token("WETH"), 2n * 10n ** 18n],
  ]);
  const prices = new Map([
    [token("USDC"), parseUsd("1") as UsdPrice],
    [token("WETH"), parseUsd("3000") as UsdPrice],
  ]);
  const wallet = [...configuration.wallets.values()][0]?.address ?? toAddress(WALLET);
  const known = new Map([[wallet, { block: 5, balances } as never]]);
  const weights = (
    found: ReadonlyMap<string, ReadonlyMap<Address, bigint>>,
    coins: ReadonlyMap<Address, Held> = new Map(),
  ): unknown => {
    const parts = { configuration, known, coins, prices, pricedAtMs: 1, external: found };
    const mix = describePortfolio(parts).mixes.find(({ strategy }) => strategy === "mix");
    return mix?.weights.map(({ token: { symbol }, weight }) => [symbol, weight]);
  };
  return { configuration, known, prices, token, weights, wallet };
}

it("weighs a mix by what is in the wallet where nothing else counts", () => {
  expect(mixed().weights(new Map())).toEqual([
    ["WETH", "60"],
    ["USDC", "40"],
  ]);
});

it("counts what lies at external addresses, as the chain has it now, and amounts that the file states", async () => {
  const { configuration, token, weights } = mixed(`external:\n  - { address: "${COLD}" }\n  - "1 WETH"\n`);
  const asked: string[] = [];
  const chain = {
    latest: async () => HEAD,
    allowance: async () => 0n,
    balance: async (of: Address, holder: Address, block?: unknown) => {
      asked.push(`${of === token("WETH") ? "WETH" : "USDC"} of ${holder === COLD ? "cold" : holder} at ${block}`);
      return of === token("WETH") ? 10n ** 18n : 0n;
    },
  };
  const found = await readExternal({ configuration: () => configuration, chain, logger: silentLogger() });
  expect(asked.sort()).toEqual(["USDC of cold at 7", "WETH of cold at 7"]);
  expect(weights(found)).toEqual([
    ["WETH", "75"],
    ["USDC", "25"],
  ]);
});

it("knows no weight while the chain does not say what lies there, and is read for no other mix", async () => {
  const { configuration, weights } = mixed(`external:\n  - { address: "${COLD}" }\n`);
  const away = async () => await Promise.reject(new ChainReadError("unreachable", "no node"));
  const chain = { latest: away, balance: away, allowance: away };
  const logger = silentLogger();
  const found = await readExternal({ configuration: () => configuration, chain, logger });
  expect(weights(found)).toEqual([
    ["WETH", null],
    ["USDC", null],
  ]);
  expect(JSON.stringify(logger.lines)).toContain("external");
  const alone = mixed();
  expect((await readExternal({ configuration: () => alone.configuration, chain, logger })).size).toBe(0);
});

it("knows the weights of all mixes but one, where a token that only that one counts elsewhere refuses to tell", async () => {
  const { configuration, token } = mixed(`external:\n  - { address: "${COLD}" }\n`);
  const other = configuration.strategies.map(({ spec, ...rest }) => ({ ...rest, spec: { ...spec, id: "other" } }));
  const both = { ...configuration, strategies: [...configuration.strategies, ...other] };
  let asked = 0;
  const chain = {
    latest: async () => HEAD,
    allowance: async () => 0n,
    balance: async (of: Address) => {
      asked += 1;
      if (asked > 1) return 1n;
      throw new ChainReadError("reverted", `${of} refuses balanceOf: the call reverts`);
    },
  };
  const logger = silentLogger();
  const found = await readExternal({ configuration: () => both, chain, logger });
  expect([...found.keys()]).toEqual(["other"]);
  expect(JSON.stringify(logger.lines)).toContain(`${token("WETH")} refuses balanceOf`);
});

it("counts what is free of the coin with its wrapped form, and knows no weight where nobody knows that", async () => {
  const { configuration, weights, wallet } = mixed(
    "",
    REBALANCE.replace("WETH: 60%", "WETH: { weight: 60%, with: [ETH] }"),
  );
  const { gasReserve } = configuration.policy;
  expect(gasReserve).toBeGreaterThan(0n);
  const has = async (raw: bigint) => new Map([[wallet, { block: 5, balances: new Map([[NATIVE_TOKEN, raw]]) }]]);
  const coins = ownCoins(await has(2n * 10n ** 18n + gasReserve), configuration);
  expect(weights(new Map(), coins)).toEqual([
    ["WETH", "75"],
    ["USDC", "25"],
  ]);
  expect(weights(new Map(), ownCoins(await has(1n), configuration))).toEqual(mixed().weights(new Map()));
  expect(weights(new Map())).toEqual([
    ["WETH", null],
    ["USDC", null],
  ]);
});

const silence = new Promise<never>(() => undefined);

/** What the handlers of a wallet answer that the rows know, by a chain that has so much of the coin, or does not answer. */
function handlersOf(
  { configuration, known, prices, token }: ReturnType<typeof mixed>,
  coin: bigint | undefined,
  change: object = {},
) {
  const away = async () => await Promise.reject(new ChainReadError("unreachable", "no node"));
  const sources = {
    configuration: () => configuration,
    reads: { status: async () => ({ standing: { known } }) },
    listing: {
      movements: async () => [],
      priceBars: async () => [],
      pricesSeen: async (of: Address) => (of === token("WETH") ? [{ atMs: 1, usd: prices.get(of) }] : []),
    },
    chain: { latest: async () => HEAD, balance: coin === undefined ? away : async () => coin },
    prices: {
      price: async ({ address }: { address: Address }) => ({ usd: prices.get(address) ?? prices.get(token("WETH")) }),
    },
    clock: { nowMs: () => 1_000, monotonicMs: () => 1_000, sleep: () => silence },
    logger: silentLogger(),
  };
  return createMoneyHandlers({ ...sources, ...change } as never);
}

const ASKED = { id: "", query: {}, body: undefined, caller: undefined, key: undefined } as const;

it("asks the chain for the coin where the rows know a wallet, which they do without it", async () => {
  const world = mixed("", REBALANCE.replace("WETH: 60%", "WETH: { weight: 60%, with: [ETH] }"));
  const handlers = handlersOf(world, 2n * 10n ** 18n + world.configuration.policy.gasReserve);
  const { mixes } = await handlers.getPortfolio(ASKED);
  expect(mixes[0]?.weights.map(({ weight }) => weight)).toEqual(["75", "25"]);
});

it("counts the native coin, which a strategy may buy: else what was spent for it leaves the value, and nothing comes", async () => {
  const { holdings, totalUsd, missingBalances } = await handlersOf(mixed(), 10n ** 18n).getPortfolio(ASKED);
  expect(holdings.map(({ money, valueUsd }) => [money.symbol, money.amount, valueUsd])).toEqual([
    ["USDC", "4000", "4000"],
    ["WETH", "2", "6000"],
    ["ETH", "1", "3000"],
  ]);
  expect([totalUsd, missingBalances]).toEqual(["13000", ["PEPE"]]);
});

it("says that the value is without the native coin where the chain does not say how much there is", async () => {
  const { totalUsd, missingBalances } = await handlersOf(mixed(), undefined).getPortfolio(ASKED);
  expect([totalUsd, missingBalances]).toEqual(["10000", ["PEPE", "ETH"]]);
});

it("has the value of the native coin over time from prices of what wraps it, where only those were recorded", async () => {
  const query = { since: new Date(1).toISOString(), points: 2 };
  const { tokens } = await handlersOf(mixed(), 10n ** 18n).getPortfolioHistory({ ...ASKED, query });
  expect(tokens.find(({ token }) => token.symbol === "ETH")).toMatchObject({
    amount: ["1", "1"],
    usd: ["3000", "3000"],
  });
});

it("answers while the node is silent, in the time of one question: prices, coins and what lies elsewhere are asked together", async () => {
  const slept: number[] = [];
  let asked = 0;
  const sleep = async (ms: number) => {
    slept.push(ms);
    // The time is up once everything was asked.
    await expect.poll(() => asked).toBeGreaterThanOrEqual(world.configuration.tokens.size + 2);
  };
  const ask = async () => {
    asked += 1;
    return await silence;
  };
  const world = mixed(`external:\n  - { address: "${COLD}" }\n`);
  const silent = {
    chain: { latest: ask },
    prices: { price: ask },
    clock: { nowMs: () => 1, monotonicMs: () => 1, sleep },
  };
  const { totalUsd, missingPrices, missingBalances } = await handlersOf(world, 0n, silent).getPortfolio(ASKED);
  expect([totalUsd, missingPrices, missingBalances]).toEqual([null, ["USDC", "WETH"], ["PEPE", "ETH"]]);
  expect(Math.max(...slept)).toBeLessThan(15_000);
});
