import { expect, it } from "vitest";
import { createMoneyHandlers } from "../../../../src/app/http/api/money-handlers.ts";
import { ChainReadError } from "../../../../src/domain/chain-read-error.ts";
import type { Address } from "../../../../src/domain/money/address.ts";
import { loaded, REBALANCE, WALLET } from "../../../config/project.ts";
import { DESCRIBED } from "../../../support/api-document.ts";
import { silentLogger } from "../../../support/silent-logger.ts";

const files = { "strategies/mix.yaml": REBALANCE, "wallet.json": JSON.stringify({ address: WALLET.slice(2) }) };
const SPENDER = `0x${"5e".repeat(20)}` as Address;

/** The API's handlers where USDC refuses whatever it is asked for, and each other answer is 5. */
function handlersWhere(code: ChainReadError["code"]) {
  const configuration = loaded(files, { RPC_1: "http://127.0.0.1:1" });
  const usdc = configuration.tokens.get("USDC")?.token.address;
  const answer = async (token: Address): Promise<bigint> => {
    if (token === usdc) throw new ChainReadError(code, `${token} refuses: the call reverts`);
    return 5n;
  };
  const sources = {
    configuration: () => configuration,
    reads: { approvals: async () => ({ spenders: [SPENDER], using: [] }) },
    chain: { allowance: async ({ token }: { token: Address }) => await answer(token) },
    prices: { price: async () => ({ missing: "none", detail: "no price" }) },
    clock: { nowMs: () => 1_000, monotonicMs: () => 1_000 },
    logger: silentLogger(),
  };
  return createMoneyHandlers(sources as never);
}

const asked = { id: "", query: {}, body: undefined, caller: undefined, key: undefined } as const;

it("allowances of all tokens but one are answered where that one refuses to tell, and it is named", async () => {
  const answer = await handlersWhere("reverted").listAllowances(asked);
  expect(answer.allowances.map(({ token }) => token.symbol)).toContain("WETH");
  expect(answer.unread.length).toBeGreaterThan(0);
  for (const { wallet, token, reason } of answer.unread)
    expect([wallet, token.symbol, reason]).toEqual(["main", "USDC", `${token.address} refuses: the call reverts`]);
  const described = DESCRIBED.find(({ id }) => id === "listAllowances");
  expect(described?.wrongIn(answer, "ok")).toBeUndefined();
  await expect(handlersWhere("unreachable").listAllowances(asked)).rejects.toThrow(/check the RPC endpoints/);
});
