import { afterAll, beforeAll, expect, test } from "vitest";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { createSnapshots, type Snapshots } from "../../../src/service/pools/snapshots.ts";
import { createTokens } from "../../../src/service/quotes/tokens.ts";
import { createTokenList } from "../../../src/service/tokens/token-list.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployExchange, type Exchange } from "../support/exchange.ts";
import { systemClock } from "../support/system-clock.ts";

let chain: TestChain;
let exchange: Exchange;
let snapshots: Snapshots;
let nowMs = 1_000_000;
const clock = { ...systemClock, monotonicMs: () => nowMs };

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
  snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, clock);
});

afterAll(async () => {
  snapshots?.stop();
  await chain?.stop();
});

/** A token becomes another release of itself at its address, as one behind a proxy does: code and name of another one. */
async function upgrade(token: Address, release: Address): Promise<void> {
  const code = (await chain.rpc.call("eth_getCode", [release, "latest"])) as Hex;
  await chain.rpc.call("anvil_setCode", [token, code]);
  for (const slot of ["0x3", "0x4"]) {
    const text = await chain.rpc.call("eth_getStorageAt", [release, slot, "latest"]);
    await chain.rpc.call("anvil_setStorageAt", [token, `0x${slot.slice(2).padStart(64, "0")}`, text]);
  }
  await chain.rpc.call("evm_mine", []);
}

test("a token that got another name, and another domain for its permits, is known by them without a restart", async () => {
  const token = await exchange.newToken(6);
  const release = await exchange.newToken(6);
  const network = { chainId: 31_337, settlement: exchange.settlement, wrappedNative: exchange.wrappedNative };
  const tokens = createTokens({ rpc: chain.rpc, network }, clock);
  const listed = { listedTokens: [{ address: token, feed: undefined }], nativeSymbol: "ETH" };
  const list = createTokenList(listed, { snapshots, tokens, clock });
  const shown = async () => {
    const permit = await tokens.permitSupport(token);
    const { name, symbol } = (await list.token(token)) ?? {};
    return { name, symbol, domain: permit.kind === "eip-2612" ? permit.domain.name : permit.kind };
  };
  expect(await shown()).toEqual({ name: "Token 1", symbol: "TK1", domain: "Token 1" });
  await upgrade(token, release);
  nowMs += 11 * 60_000;
  expect(await shown()).toEqual({ name: "Token 2", symbol: "TK2", domain: "Token 2" });
});
