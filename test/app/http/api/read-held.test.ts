import { expect, it } from "vitest";
import { describeWallets } from "../../../../src/app/http/api/describe-outside.ts";
import { describePortfolio } from "../../../../src/app/http/api/describe-portfolio.ts";
import { readHeld, withoutCoins } from "../../../../src/app/http/api/read-held.ts";
import { ChainReadError } from "../../../../src/domain/chain-read-error.ts";
import { NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { parseUsd } from "../../../../src/domain/money/price.ts";
import { loaded, REBALANCE, WALLET } from "../../../config/project.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

const files = { "strategies/mix.yaml": REBALANCE, "wallet.json": JSON.stringify({ address: WALLET.slice(2) }) };

/** The wallet as the page shows it, where the rows know nothing of the native coin. */
async function shown(balance: () => Promise<bigint>) {
  const all = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const tokens = new Map([...all.tokens].filter(([symbol]) => symbol !== "PEPE"));
  const configuration = { ...all, tokens };
  const asked: string[] = [];
  const names = new Map<string, string>([[NATIVE_TOKEN, "coin"]]);
  for (const { token } of configuration.tokens.values()) names.set(token.address, token.symbol);
  const address = [...configuration.wallets.values()][0]?.address;
  const chain = {
    latest: async () => ({ number: 7, hash: "0x00" as const, timestamp: 1, baseFeePerGas: 1n }),
    allowance: () => Promise.reject(new Error("not asked")),
    balance: async (token: string, owner: string, block?: number) => {
      asked.push(`${names.get(token)} of ${owner === address ? "main" : owner} at ${block}`);
      return await balance();
    },
  };
  const held = await readHeld({ configuration: () => configuration, chain, logger: silentLogger() });
  const [wallet] = describeWallets({ configuration, known: withoutCoins(held), held, halts: [] }).wallets;
  return { asked, gas: wallet?.gas, balances: wallet?.balances.map(({ amount }) => amount), address: wallet?.address };
}

it("what a wallet has for gas is known although no rows know of the native coin, and is none of its balances", async () => {
  const { asked, gas, balances } = await shown(async () => 15n * 10n ** 17n);
  expect(asked).toEqual(["ETH of main at 7", "USDC of main at 7", "WETH of main at 7"]);
  expect(balances, "of a wallet that no rows know, without what is there for gas").toEqual(["1500000000000", "1.5"]);
  expect(gas).toMatchObject({ symbol: "ETH", amount: "1.5" });
});

it("what a wallet has for gas is not known while no node answers, and the rest is answered", async () => {
  const { gas, address } = await shown(() => Promise.reject(new ChainReadError("unreachable", "no node")));
  expect([gas, address]).toEqual([null, expect.stringMatching(/^0x/)]);
});

it("a token that refuses to tell takes with it neither other tokens nor the wallet's gas, and counts as no zero", async () => {
  const configuration = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const [usdc, weth] = ["USDC", "WETH"].map((symbol) => configuration.tokens.get(symbol)?.token.address);
  const logger = silentLogger();
  const chain = {
    latest: async () => ({ number: 7, hash: "0x00" as const, timestamp: 1, baseFeePerGas: 1n }),
    allowance: () => Promise.reject(new Error("not asked")),
    balance: async (token: string) => {
      if (token === usdc) throw new ChainReadError("reverted", `${token} refuses balanceOf: the call reverts`);
      return 10n ** 18n;
    },
  };
  const held = await readHeld({ configuration: () => configuration, chain, logger });
  expect(JSON.stringify(logger.lines)).toContain(`${usdc} refuses balanceOf`);
  const known = withoutCoins(held);
  const [wallet] = describeWallets({ configuration, known, held, halts: [] }).wallets;
  expect(wallet?.gas?.amount).toBe("1");
  expect(wallet?.balances.map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(["WETH", "PEPE"]));
  expect(wallet?.unread).toEqual(["USDC"]);
  const prices = new Map([usdc, weth].map((address) => [address, parseUsd("1")])) as never;
  const parts = { configuration, known, coins: new Map(), prices, pricedAtMs: 1, external: new Map() };
  const { totalUsd, missingBalances, mixes } = describePortfolio(parts);
  expect([totalUsd, missingBalances]).toEqual(["1", ["USDC", "ETH"]]);
  expect(mixes[0]?.weights.map(({ token: { symbol }, weight }) => [symbol, weight])).toEqual([
    ["WETH", null],
    ["USDC", null],
  ]);
  // Of what a mix counts elsewhere of such a token, the whole is not known either.
  const elsewhere = new Map([["mix", new Map([[usdc, 10n ** 6n]])]]) as never;
  const counting = loaded(
    { ...files, "strategies/mix.yaml": `${REBALANCE}external: [{ address: "0x${"c0".repeat(20)}" }]\n` },
    { RPC_1: "http://127.0.0.1:1" },
  );
  const watched = describePortfolio({ ...parts, configuration: counting, external: elsewhere });
  expect(watched.mixes[0]?.weights.map(({ weight }) => weight)).toEqual([null, null]);
});
