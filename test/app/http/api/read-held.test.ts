import { expect, it } from "vitest";
import { describeWallets } from "../../../../src/app/http/api/describe-outside.ts";
import { readHeld, withoutCoins } from "../../../../src/app/http/api/read-held.ts";
import { ChainReadError } from "../../../../src/domain/chain-read-error.ts";
import { NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
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

it("what a wallet has for gas is known although no rows know of the native coin, which counts for no value", async () => {
  const { asked, gas, balances } = await shown(async () => 15n * 10n ** 17n);
  expect(asked).toEqual(["ETH of main at 7", "USDC of main at 7", "WETH of main at 7"]);
  expect(balances, "of a wallet that no rows know, without what is there for gas").toEqual(["1500000000000", "1.5"]);
  expect(gas).toMatchObject({ symbol: "ETH", amount: "1.5" });
});

it("what a wallet has for gas is not known while no node answers, and the rest is answered", async () => {
  const { gas, address } = await shown(() => Promise.reject(new ChainReadError("unreachable", "no node")));
  expect([gas, address]).toEqual([null, expect.stringMatching(/^0x/)]);
});
