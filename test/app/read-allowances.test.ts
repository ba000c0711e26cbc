import { expect, it } from "vitest";
import { showAllowances } from "../../src/app/commands/allowances.ts";
import { allowancesOnChain } from "../../src/app/read-allowances.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { Address } from "../../src/domain/money/address.ts";
import { loaded, REBALANCE, WALLET } from "../config/project.ts";

const files = { "strategies/mix.yaml": REBALANCE, "wallet.json": JSON.stringify({ address: WALLET.slice(2) }) };
const SPENDER = `0x${"5e".repeat(20)}` as Address;

/** What the chain shows where USDC refuses to tell, and every other token allows 5 units. */
function reading(code: ChainReadError["code"]) {
  const configuration = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const usdc = configuration.tokens.get("USDC")?.token.address;
  const chain = {
    allowance: async ({ token }: { token: Address }) => {
      if (token === usdc) throw new ChainReadError(code, `${token} refuses allowance: the call reverts`);
      return 5n;
    },
  };
  const prices = { price: async () => ({ missing: "none", detail: "no price" }) as never };
  const approvals = async () => ({ spenders: [SPENDER], using: [] });
  return { configuration, read: { approvals, chain, prices } };
}

it("the allowances of all tokens but one are listed where that one refuses to tell, and it is named", async () => {
  const { configuration, read } = reading("reverted");
  const found = await allowancesOnChain(configuration, read, { skipsRefused: true });
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  showAllowances(found, {}, terminal);
  expect(out.join("\n")).toContain("WETH");
  expect(err.join("\n")).toMatch(/what 0x.* may take of USDC of main is not known: 0x.* refuses allowance/);
  showAllowances({ ...found, allowances: [] }, {}, terminal);
  expect(out.at(-1)).toBe("of the tokens that answer, no contract may take any");
  showAllowances(found, { json: true }, terminal);
  const { unread } = JSON.parse(out.at(-1) ?? "") as { unread: { token: { symbol: string } }[] };
  expect(unread.map(({ token }) => token.symbol)).toContain("USDC");
});

it("a token that is no contract any more is named as well", async () => {
  const { configuration, read } = reading("malformed answer");
  const { allowances, unread } = await allowancesOnChain(configuration, read, { skipsRefused: true });
  expect(allowances.map(({ token }) => token.symbol)).toContain("WETH");
  expect(new Set(unread.map(({ token }) => token.symbol))).toEqual(new Set(["USDC"]));
});

it("a node without an answer ends the list, and so does a token that is asked about alone", async () => {
  const away = reading("unreachable");
  await expect(allowancesOnChain(away.configuration, away.read, { skipsRefused: true })).rejects.toThrow();
  const { configuration, read } = reading("reverted");
  await expect(allowancesOnChain(configuration, read)).rejects.toThrow(/refuses allowance/);
});

it("an allowance of another contract than an open swap's is of no open swap", async () => {
  const { configuration, read } = reading("reverted");
  const { address: token } = configuration.tokens.get("WETH")?.token ?? { address: SPENDER };
  const [wallet = SPENDER] = [...configuration.wallets.values()].map(({ address }) => address);
  const old = `0x${"6f".repeat(20)}` as Address;
  const using = [{ wallet, token, spender: SPENDER, swap: "run_9.0.1" }];
  const approvals = async () => ({ spenders: [SPENDER, old], using });
  const { allowances } = await allowancesOnChain(configuration, { ...read, approvals }, { skipsRefused: true });
  const ofToken = allowances.filter((one) => one.token.address === token);
  expect(ofToken.filter(({ swap }) => swap !== undefined).map(({ spender }) => spender)).toEqual([SPENDER]);
  expect(ofToken.map(({ spender }) => spender)).toContain(old);
});
