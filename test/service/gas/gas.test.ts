import { describe, expect, test } from "vitest";
import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { paidGas, startGas } from "../../../src/service/gas/evm-gas.ts";
import { extraGasOf } from "../../../src/service/gas/extra-gas.ts";
import { safeGasLimit } from "../../../src/service/gas/swap-gas.ts";
import { extraTokenGas, type TokenTraffic } from "../../../src/service/gas/token-gas.ts";
import { kindOf } from "../../../src/service/pools/kinds.ts";
import type { Hop } from "../../../src/service/routing/plan.ts";
import { fixtures } from "../routing/support/fixtures.ts";

describe("gas of a transaction", () => {
  test("begins with 21,000, four for each zero byte and sixteen for each other one", () => {
    expect(startGas("0x")).toBe(21_000n);
    expect(startGas("0x00")).toBe(21_004n);
    expect(startGas(`0x0a00a0${"00".repeat(10)}ff`)).toBe(21_000n + 3n * 16n + 11n * 4n);
  });

  test("is given back by a fifth at most", () => {
    expect(paidGas({ used: 200_000n, refund: 10_000n })).toBe(190_000n);
    expect(paidGas({ used: 200_000n, refund: 60_000n })).toBe(160_000n);
  });
});

test("a gas limit leaves room for ticks that come under way until the block, once for each leg that may meet some", () => {
  const limitOf = (...kinds: readonly number[]) => {
    return safeGasLimit(100_000n, { hops: kinds.map((kind) => ({ pool: { kind } }) as Hop) });
  };
  expect(limitOf(1, 3)).toBe(175_000n);
  expect(limitOf(2, 1, 2)).toBe(175_000n + 2n * 60_000n);
});

test("a gas limit is one that a transaction may have, as long as what the swap uses is", () => {
  const most = 16_777_216n;
  const limitOf = (used: bigint) => safeGasLimit(used, { hops: [{ pool: { kind: 2 } } as Hop] });
  expect(limitOf(9_000_000n)).toBe(15_810_000n);
  expect(limitOf(9_700_000n)).toBe(most);
  expect(limitOf(most)).toBe(most);
  expect(limitOf(most + 1n)).toBeGreaterThan(most + 1n);
});

describe("what a token uses beyond a usual one", () => {
  const none = { call: 0, transfer: 0, first: 0, account: 0, pull: 0 };

  test("is never less than nothing", () => {
    const transfers = [1n, 1n, 1n, 1n, 9_000n, 9_000n, 9_000n, 9n];
    expect(extraGasOf({ firstRead: 1n, secondRead: 2n, transfers })).toEqual(none);
  });

  test("has a limit, however much it burns", () => {
    const much = 10n ** 12n;
    const transfers = [much, much, much, much, 0n, 0n, 0n, much];
    const most = { call: 100_000, transfer: 100_000, first: 200_000, account: 100_000, pull: 100_000 };
    expect(extraGasOf({ firstRead: 2n * much, secondRead: much, transfers })).toEqual(most);
  });
});

describe("the extra gas of a swap's token", () => {
  const [guarded, hub, other] = ["0a", "0b", "0c"].map((byte) => toAddress(`0x${byte.repeat(20)}`)) as Address[];
  // Figures that show how often each is counted.
  const extra = { call: 1, transfer: 100, first: 10_000, account: 1_000_000, pull: 100_000_000 };
  const leg = (tokenIn: Address, tokenOut: Address, kind: 1 | 2 | 3) => ({ tokenIn, tokenOut, pool: { kind } }) as Hop;
  const sold = [leg(guarded!, hub!, 2), leg(guarded!, hub!, 1), leg(hub!, other!, 2)];
  const bought = [leg(other!, hub!, 2), leg(hub!, guarded!, 1)];
  const between = [leg(hub!, guarded!, 3), leg(guarded!, other!, 3)];
  const isComputed: TokenTraffic["isComputed"] = ({ kind }) => kind !== 3;
  const plain = { gasless: false, hasPermit: false, hasAffiliate: false, isComputed };

  // Executor and two accounts of each transfer; beyond the first two, accounts count.
  test.each<[string, readonly Hop[], Partial<TokenTraffic>, bigint]>([
    ["sold over two pools", sold, {}, 102_010_312n],
    [
      "sold by signature, with an affiliate",
      sold,
      { gasless: true, hasPermit: true, hasAffiliate: true },
      104_010_513n,
    ],
    ["sold as the native token", sold, { fromAsset: NATIVE_TOKEN }, 2_010_310n],
    ["bought from a pool that pays the recipient", bought, {}, 10_103n],
    ["bought from a pool that pays the executor", [bought[0]!, leg(hub!, guarded!, 3)], {}, 1_010_204n],
    ["bought as the native token", bought, { toAsset: NATIVE_TOKEN }, 10_104n],
    ["between two others", between, {}, 1_010_205n],
    ["that is not in it", bought.slice(0, 1), {}, 0n],
  ])("counts all calls and transfers of one %s", (_, legs, changes, gas) => {
    const ends = { fromAsset: legs[0]!.tokenIn, toAsset: legs.at(-1)!.tokenOut };
    const extraGas = (token: Address) => (token === guarded ? extra : undefined);
    expect(extraTokenGas({ route: { hops: legs }, ...ends, ...plain, extraGas, ...changes })).toBe(gas);
  });
});

test.each(fixtures())("no leg of the fixture $name costs less gas than a search takes for granted", ({ states }) => {
  const gas: bigint[] = [];
  const tooLow: bigint[] = [];
  for (const state of states) {
    const { least } = kindOf(state.pool).gas;
    for (const token of [state.pool.token0, state.pool.token1]) {
      for (let amount = 1_000n; amount < 10n ** 27n; amount *= 1_000n) {
        const quote = state.quote(token, amount);
        if (quote.kind !== "filled") continue;
        gas.push(quote.gas);
        if (quote.gas < least) tooLow.push(quote.gas);
      }
    }
  }
  expect(gas.length).toBeGreaterThan(states.length);
  expect(tooLow).toEqual([]);
});
