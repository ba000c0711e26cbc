import { expect, it } from "vitest";
import { describeWallets } from "../../../../src/app/http/api/describe-outside.ts";
import { readGas } from "../../../../src/app/http/api/read-gas.ts";
import { ChainReadError } from "../../../../src/domain/chain-read-error.ts";
import { NATIVE_TOKEN } from "../../../../src/domain/money/address.ts";
import { loaded, REBALANCE, WALLET } from "../../../config/project.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

const files = { "strategies/mix.yaml": REBALANCE, "wallet.json": JSON.stringify({ address: WALLET.slice(2) }) };

/** The wallet as the page shows it, where the rows know nothing of the native coin. */
async function shown(balance: () => Promise<bigint>) {
  const configuration = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const asked: string[] = [];
  const chain = {
    latest: () => Promise.reject(new Error("not asked")),
    allowance: () => Promise.reject(new Error("not asked")),
    balance: async (token: string, owner: string) => {
      asked.push(`${token === NATIVE_TOKEN ? "coin" : token} of ${owner}`);
      return await balance();
    },
  };
  const gas = await readGas({ configuration: () => configuration, chain, logger: silentLogger() });
  const [wallet] = describeWallets({ configuration, known: new Map(), gas, halts: [] }).wallets;
  return { asked, gas: wallet?.gas, address: wallet?.address };
}

it("what a wallet has for gas is known although the native coin is no token of the configuration", async () => {
  const { asked, gas, address } = await shown(async () => 15n * 10n ** 17n);
  expect(asked).toEqual([`coin of ${address}`]);
  expect(gas).toMatchObject({ symbol: "ETH", amount: "1.5" });
});

it("what a wallet has for gas is not known while no node answers, and the rest is answered", async () => {
  const { gas, address } = await shown(() => Promise.reject(new ChainReadError("unreachable", "no node")));
  expect([gas, address]).toEqual([null, expect.stringMatching(/^0x/)]);
});
