import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import type { Address } from "../../../src/domain/money/address.ts";
import type { ExtraGas } from "../../../src/service/gas/extra-gas.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { HAND_CODE } from "../../../src/service/tokens/probe-code.ts";
import {
  POOL_CODE_ADDRESS,
  PROBE_ADDRESS,
  type ProbeRequest,
  probeTransfers,
} from "../../../src/service/tokens/transfer-probe.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { deployExchange, type Exchange } from "../support/exchange.ts";
import { newGuardedToken } from "../support/guarded-token.ts";
import { type Habits, newOddToken, setHabits } from "../support/odd-token.ts";
import { giveTokens } from "../support/wallet.ts";

let chain: TestChain;
let exchange: Exchange;
let token: Address;
/** pools that hold the token: a pair with 10^24 of it, and a V3 pool with far less */
let pair: Address;
let pool: Address;

beforeAll(async () => {
  chain = await startTestChain();
  exchange = await deployExchange(chain);
  token = await newOddToken(chain, exchange);
  const other = await exchange.newToken(18);
  pair = await exchange.newPair(token, other, { amountA: 10n ** 24n, amountB: 10n ** 24n });
  const positions = [{ lower: -6000, upper: 6000, liquidity: 10n ** 22n }];
  pool = await exchange.newPool(token, other, { fee: 3000, sqrtPrice: sqrtRatioAtTick(0), positions });
});

afterAll(() => chain?.stop());

test("the hand obeys the address that the probe is injected into, and asks the one that has the pool's code", () => {
  for (const address of [PROBE_ADDRESS, POOL_CODE_ADDRESS]) expect(HAND_CODE).toContain(address.slice(2));
});

function probe(holders: readonly Address[] = [pool, pair], rpc = chain.rpc) {
  const { settlement, executor } = exchange;
  return probeTransfers(rpc, { token, holders, settlement, executor });
}

/** What a simulation says of a token's gas, when one pool holds it. */
async function extraGas(asked: Address, contracts: Pick<ProbeRequest, "settlement" | "executor">): Promise<ExtraGas> {
  const other = await exchange.newToken(18);
  const holder = await exchange.newPair(asked, other, { amountA: 10n ** 12n, amountB: 10n ** 24n });
  const verdict = await probeTransfers(chain.rpc, { token: asked, holders: [holder], ...contracts });
  if (verdict?.kind !== "exact") throw new Error(`no exact token: ${verdict?.detail}`);
  return verdict.extraGas;
}

describe("a simulation of transfers", () => {
  const plain = ["PermitToken", "DaiPermitToken", "UsdtLikeToken"] as const;
  test.each(plain)("passes a %s, and finds next to nothing beyond a usual token's gas", async (contract) => {
    const ordinary = await exchange.newToken(6, contract);
    const extra = await extraGas(ordinary, { settlement: undefined, executor: undefined });
    expect(extra).toMatchObject({ first: 0, account: 0, pull: 0 });
    const most = contract === "PermitToken" ? 0 : 100;
    for (const each of [extra.call, extra.transfer]) {
      expect(each).toBeGreaterThanOrEqual(0);
      expect(each).toBeLessThanOrEqual(most);
    }
  });

  test("reports what a proxy and lists of accounts use, also when the executor holds some of the token", async () => {
    const guarded = await newGuardedToken(chain, exchange);
    const extra = await extraGas(guarded, exchange);
    // Each slot that is touched for the first time uses 2,000 more, the implementation's account 2,500: those of the
    // implementation, of the pause and of two accounts come with the first transfer, then one for each account.
    const touched = { first: 2_000 + 2_500 + 2_000 + 4_000, account: 2_000, pull: 2_000 };
    for (const each of ["first", "account", "pull"] as const) {
      // The probe's own memory costs a unit here and there.
      expect(extra[each] - touched[each], each).toBeCloseTo(0, -1);
    }
    // At least the implementation's address and its call, and three looks at the list and one at the pause.
    expect(extra.call).toBeGreaterThan(200);
    expect(extra.transfer).toBeGreaterThan(600);
    expect(extra.transfer).toBeLessThan(2_000);
    await giveTokens(chain, guarded, { to: exchange.executor, amount: 1n });
    expect(await extraGas(guarded, exchange)).toEqual(extra);
  });

  const at = (place: string) => (place === "pair" ? pair : pool);
  const cases: readonly { what: string; habits: () => Habits; holders?: string[]; error: string; detail: string }[] = [
    {
      what: "a tax on buying",
      habits: () => ({ pool: pair, taxOnBuying: 30_000n }),
      error: "TOKEN_TAXED",
      detail: "takes 3% of what is moved out of the pool",
    },
    {
      what: "a tax on selling only",
      habits: () => ({ pool: pair, taxOnSelling: 500n }),
      error: "TOKEN_TAXED",
      detail: "takes 0.05% of what is moved into the pool",
    },
    {
      what: "a tax on buying out of a V3 pool",
      habits: () => ({ pool, taxOnBuying: 123_400n }),
      holders: ["pool"],
      error: "TOKEN_TAXED",
      detail: "takes 12.34% of what",
    },
    {
      what: "a tax on transferFrom only",
      habits: () => ({ taxOnPulling: 10_000n }),
      error: "TOKEN_TAXED",
      detail: "takes 1% of what is moved from a wallet by transferFrom",
    },
    {
      what: "more taken from the sender than was sent",
      habits: () => ({ surcharge: 20_000n }),
      error: "TOKEN_TAXED",
      detail: "takes 2% on top of what",
    },
    {
      what: "shares worth 1.17 each",
      habits: () => ({ rate: 1_170_000_000_000_000_003n }),
      error: "TOKEN_INEXACT",
      detail: "left and",
    },
    {
      what: "shares worth a ten thousandth more than one",
      habits: () => ({ rate: 1_000_100_000_000_000_007n }),
      error: "TOKEN_INEXACT",
      detail: "left and",
    },
    {
      what: "a sale that reverts",
      habits: () => ({ pool: pair, unsellable: true }),
      error: "TOKEN_UNSELLABLE",
      detail: "into the pool",
    },
    {
      what: "transfers that revert",
      habits: () => ({ paused: true }),
      error: "TOKEN_FROZEN",
      detail: "out of the pool",
    },
    {
      what: "transfers that answer false",
      habits: () => ({ refusesSilently: true }),
      error: "TOKEN_FROZEN",
      detail: "fails",
    },
    {
      what: "a blocked executor",
      habits: () => ({ blocked: exchange.executor }),
      error: "TOKEN_FROZEN",
      detail: "out of the pool",
    },
  ];
  test.each(cases)("names $what", async ({ habits, holders = ["pool", "pair"], error, detail }) => {
    await setHabits(chain, token, habits());
    expect(await probe(holders.map(at))).toMatchObject({
      kind: "inexact",
      error,
      detail: expect.stringContaining(detail),
    });
    await setHabits(chain, token, {});
    expect(await probe()).toMatchObject({ kind: "exact" });
  });

  test("lets a token look into the pool as it is", async () => {
    await setHabits(chain, token, { pool: pair, asksPool: true });
    expect(await probe()).toMatchObject({ kind: "exact" });
    await setHabits(chain, token, { pool: pair, asksPool: true, taxOnSelling: 10_000n });
    expect(await probe()).toMatchObject({ error: "TOKEN_TAXED" });
    await setHabits(chain, token, {});
  });

  test("takes the pool that holds most, and says nothing without any", async () => {
    await setHabits(chain, token, { pool: pair, taxOnBuying: 10_000n });
    for (const holders of [
      [pool, pair],
      [pair, pool],
    ]) {
      expect(await probe(holders)).toMatchObject({ detail: expect.stringContaining(pair) });
    }
    expect(await probe([pool])).toMatchObject({ kind: "exact" });
    expect(await probe([exchange.settlement])).toBeUndefined();
    await setHabits(chain, token, {});
  });
});

describe("what is no verdict", () => {
  const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, "0");
  const words = (...values: readonly (bigint | number)[]) => `0x${values.map(word).join("")}`;
  const answers: Record<string, () => unknown> = {
    nothing: () => "0x",
    "a number": () => 7,
    "a part of a word": () => `0x${word(BigInt(pair))}00`,
    "a holder without its looks": () => words(BigInt(pair), 7),
    "another holder": () => words(BigInt(token), 7, 7),
    "moves without a holder": () => words(0, 7, 7, 1, 5, 5, 5, 5),
    "half a move": () => words(BigInt(pair), 7, 7, 1, 5),
    "exact moves, but not all": () => words(BigInt(pair), 7, 7, 1, 5, 5, 5, 5),
    "a move after one that is not exact": () => words(BigInt(pair), 7, 7, 0, 5, 5, 5, 5, 1, 5, 5, 5, 5),
  };
  test.each(Object.keys(answers))("%s", async (name) => {
    const rpc = { ...chain.rpc, call: async () => answers[name]?.() };
    await expect(probe([pair], rpc)).rejects.toThrow(RpcError);
  });

  test("silence, which is not waited for longer than it was reported", async () => {
    const silent: JsonRpc["call"] = (_method, _params, signal) =>
      new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    const { settlement, executor } = exchange;
    const signal = AbortSignal.timeout(10);
    const checking = probeTransfers(
      { ...chain.rpc, call: silent },
      { token, holders: [pair], settlement, executor, signal },
    );
    await expect(checking).rejects.toMatchObject({ name: "TimeoutError" });
  });
});
