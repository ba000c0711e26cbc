import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { PreflightError, prepare } from "../../src/engine/prepare.ts";
import { NOW_MS, POOL, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife } from "../support/engine-life.ts";
import type { FakeChain } from "../support/fake-chain.ts";

test("notes the balances that the audit counts from, once, at the block they were read at", async () => {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside);
  await prepare(life.context);
  outside.chain.mine();
  outside.chain.ledger.credit(USDC.address, ACCOUNT, 1n);
  await prepare(life.context);
  expect(life.db.prepare("SELECT symbol, block_number, balance FROM baselines ORDER BY symbol").all()).toEqual([
    { symbol: "ETH", block_number: 100, balance: (10n ** 19n).toString() },
    { symbol: "USDC", block_number: 100, balance: "1000000000" },
    { symbol: "WBTC", block_number: 100, balance: "0" },
    { symbol: "WETH", block_number: 100, balance: (3n * 10n ** 18n).toString() },
  ]);
  expect(life.store.identity()).toEqual({ network: "sandbox", chainId: 31_337 });
});

test("notes them at a final block: what lies above may come once more in a later one, and would count twice", async () => {
  const outside = createOutside(NOW_MS);
  const { chain } = outside;
  for (let blocks = 0; blocks < 6; blocks += 1) chain.mine();
  chain.ledger.credit(USDC.address, POOL, 5n);
  chain.takeAway({ token: USDC.address, from: POOL, to: ACCOUNT, amount: 5n });
  const life = openLife(outside);
  await prepare(life.context);
  const noted = (): unknown =>
    life.db.prepare("SELECT block_number, block_time_seconds, balance FROM baselines WHERE symbol = 'USDC'").get();
  const { number, timestamp } = await chain.finalized();
  expect(noted()).toEqual({ block_number: number, block_time_seconds: timestamp, balance: "1000000000" });
});

test("notes none in a dry run: what happens before the wallet trades is no row's matter, and it may be on paper", async () => {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, { settings: { live: false } });
  await prepare(life.context);
  expect(life.store.baselines()).toEqual([]);
});

test.each<[string, (chain: FakeChain) => void]>([
  ["the wallet itself sent something above it", (chain) => chain.ledger.countUp(ACCOUNT)],
  [
    "no node keeps that state",
    (chain) => {
      const balance = chain.balance.bind(chain);
      chain.balance = async (token, owner, block) => {
        if (block === 106) return await balance(token, owner, block);
        throw new ChainReadError("refused", "missing trie node");
      };
    },
  ],
])("notes them at the tip where %s", async (_what, change) => {
  const outside = createOutside(NOW_MS);
  for (let blocks = 0; blocks < 6; blocks += 1) outside.chain.mine();
  change(outside.chain);
  const life = openLife(outside);
  await prepare(life.context);
  const { timestamp } = await outside.chain.latest();
  expect(life.db.prepare("SELECT DISTINCT block_number, block_time_seconds FROM baselines").all()).toEqual([
    { block_number: 106, block_time_seconds: timestamp },
  ]);
});

test.each([
  { network: "mainnet", chainId: 1 },
  { network: "sandbox", chainId: 1 },
  { network: "mainnet", chainId: 31_337 },
])("refuses a database of another network: %j", async (identity) => {
  const life = openLife(createOutside(NOW_MS));
  life.store.saveIdentity({ ...identity, atMs: 1 });
  const error = await prepare(life.context).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(PreflightError);
  expect(error).toMatchObject({ code: "DATABASE_IDENTITY_MISMATCH" });
  expect(life.db.prepare("SELECT count(*) FROM baselines").pluck().get()).toBe(0);
});

test.each([
  ["says other decimals", { ...USDC, decimals: 18 }, "says 6 decimals, the configuration says 18"],
  ["does not answer", { ...USDC, address: ACCOUNT }, "says nothing decimals, the configuration says 6"],
])("refuses a token that %s, before anything is written down", async (_name, token, message) => {
  const life = openLife(createOutside(NOW_MS), { settings: { tokens: [token] } });
  const error = await prepare(life.context).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "TOKEN_MISMATCH", message: expect.stringContaining(message) });
  expect(life.store.identity()).toBeUndefined();
});

test("refuses a settlement address without code, before anything is written down", async () => {
  const outside = createOutside(NOW_MS);
  outside.chain.codes.clear();
  const life = openLife(outside);
  const error = await prepare(life.context).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "SETTLEMENT_MISSING", message: expect.stringContaining("service.settlement") });
  expect(life.store.identity()).toBeUndefined();
});
