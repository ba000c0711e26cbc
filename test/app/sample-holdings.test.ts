import { expect, it } from "vitest";
import { createHoldingsSampler, type HoldingsDeps } from "../../src/app/sample-holdings.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { type Address, toAddress } from "../../src/domain/money/address.ts";
import { ETH, policySample, priceOf, ROUTER, USDC, WALLET, WETH } from "../support/builders.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { silentLogger } from "../support/silent-logger.ts";

const INFINITE = 2n ** 256n - 1n;

function sampled(
  wallets: number,
  change: Partial<HoldingsDeps["chain"]> = {},
  approvals: HoldingsDeps["reads"]["approvals"] = async () => ({ spenders: [ROUTER], using: [] }),
  lentGas: ReadonlyMap<Address, bigint> = new Map(),
) {
  const clock = new FakeClock(1_000_000);
  const asked: string[] = [];
  const chain: HoldingsDeps["chain"] = {
    nativeBalance: async () => 2n * 10n ** 18n,
    balance: async (token, owner) => {
      asked.push(`${token} ${owner}`);
      return token === USDC.address ? 50_000_000n : 0n;
    },
    allowance: async ({ token }) => (token === USDC.address ? INFINITE : 0n),
    ...change,
  };
  const sampler = createHoldingsSampler(
    {
      wallets: new Map(
        Array.from({ length: wallets }, (_, index) => {
          const address = index === 0 ? WALLET : toAddress(`0x${(index + 1).toString(16).padStart(40, "0")}`);
          return [`w${index}`, { name: `w${index}`, address }] as const;
        }),
      ) as never,
      ...{ service: {} as never, policy: policySample({}) },
      tokens: new Map([ETH, USDC, WETH].map((token) => [token.symbol, { token }])) as never,
    },
    {
      ...{ chain, clock, prices: { price: async (token) => ({ ...priceOf(token), atSeconds: 1_000 }) } },
      ...{ reads: { approvals }, logger: silentLogger(), lentGas },
    },
  );
  const stopping = new AbortController();
  sampler.latest();
  return { clock, asked, sampler, stopping, reading: () => sampler.keepReading(stopping.signal) };
}

it("reads balances and allowances, worth what their prices say", async () => {
  const { clock, sampler, stopping, reading } = sampled(1);
  const ended = reading();
  await clock.advance(1);
  const of = { wallet: "w0", spender: undefined };
  expect(sampler.latest()).toMatchObject([
    { ...of, token: "ETH", amount: 2, dollars: 2_000 },
    { ...of, token: "USDC", amount: 50, dollars: 50 },
    { ...of, token: "WETH", amount: 0, dollars: 0 },
    { wallet: "w0", token: "USDC", spender: ROUTER, amount: Infinity, dollars: Infinity },
    { wallet: "w0", token: "WETH", spender: ROUTER, amount: 0, dollars: 0 },
  ]);
  stopping.abort();
  await clock.advance(1);
  await ended;
});

it("shows no coins that a wallet on paper is lent for gas", async () => {
  const { clock, sampler, stopping, reading } = sampled(1, {}, undefined, new Map([[WALLET, 15n * 10n ** 17n]]));
  const ended = reading();
  await clock.advance(1);
  expect(sampler.latest()[0]).toMatchObject({ token: "ETH", spender: undefined, amount: 0.5, dollars: 500 });
  stopping.abort();
  await clock.advance(1);
  await ended;
});

it("asks a node no more than sixty times a minute, however many wallets there are, and comes to all in turn", async () => {
  const { clock, asked, sampler, stopping, reading } = sampled(50);
  const ended = reading();
  await clock.advance(1);
  expect(sampler.latest()).toHaveLength(60);
  for (let minute = 0; minute < 4; minute += 1) await clock.advance(60_000);
  expect(asked.length).toBeLessThanOrEqual(5 * 60);
  expect(new Set(sampler.latest().map(({ wallet }) => wallet)).size).toBe(50);
  stopping.abort();
  await clock.advance(60_000);
  await ended;
});

it("leaves the node alone while nobody looks", async () => {
  const { clock, asked, stopping, reading } = sampled(1);
  const ended = reading();
  await clock.advance(3_600_000);
  const read = asked.length;
  expect(read).toBeLessThanOrEqual(11 * 2);
  await clock.advance(3_600_000);
  expect(asked).toHaveLength(read);
  stopping.abort();
  await clock.advance(60_000);
  await ended;
});

it("keeps the last sample, with its time, while no node answers", async () => {
  let isAway = false;
  const { clock, sampler, stopping, reading } = sampled(1, {
    nativeBalance: async () => {
      if (isAway) throw new ChainReadError("unreachable", "no node answered");
      return 10n ** 18n;
    },
  });
  const ended = reading();
  await clock.advance(1);
  const before = sampler.latest().find(({ token }) => token === "ETH");
  isAway = true;
  await clock.advance(180_000);
  expect(sampler.latest().find(({ token }) => token === "ETH")).toEqual(before);
  expect(before?.readAtMs).toBeLessThan(1_001_000);
  stopping.abort();
  await clock.advance(60_000);
  await ended;
});

it("reads on once a database that was busy can be read again: figures end no daemon", async () => {
  let isBusy = true;
  const { clock, sampler, stopping, reading } = sampled(1, {}, async () => {
    if (isBusy) throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
    return { spenders: [], using: [] };
  });
  const ended = reading();
  await clock.advance(61_000);
  expect(sampler.latest()).toEqual([]);
  isBusy = false;
  await clock.advance(60_000);
  expect(sampler.latest().filter(({ spender }) => spender === undefined)).toHaveLength(3);
  stopping.abort();
  await clock.advance(60_000);
  await ended;
});
