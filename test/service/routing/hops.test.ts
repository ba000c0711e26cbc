import { expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { createEdge, openEdge } from "../../../src/service/routing/edge.ts";
import { toHops } from "../../../src/service/routing/hops.ts";
import { PORTION_ALL } from "../../../src/service/routing/plan.ts";

const [A, B] = [toAddress(`0x${"1".repeat(40)}`), toAddress(`0x${"2".repeat(40)}`)] as [Address, Address];
const pool = { kind: 1, protocol: 0, token0: A, token1: B, feePips: 3_000, tickSpacing: 0 };

function portionsOf(amounts: readonly number[]): readonly bigint[] {
  const states = amounts.map((_, place) => {
    return pairState({ ...pool, address: toAddress(`0x${String(place + 3).repeat(40)}`) }, 10n ** 24n, 10n ** 24n);
  });
  const edge = { ...openEdge(createEdge(A, B, states), new Set()), amounts: [...amounts] };
  return toHops([edge], A).map(({ portion }) => portion);
}

test("a pool takes its part of what is left, and the last one all of it", () => {
  expect(portionsOf([1, 1, 2])).toEqual([PORTION_ALL / 4n, 333_333_333_333_333n * 1_000n, PORTION_ALL]);
});

test("what is less than the rounding of a sum goes to no pool, and no pool is asked to sell nothing", () => {
  expect(portionsOf([1e20, 1, 1])).toEqual([PORTION_ALL]);
  expect(portionsOf([1, 1e20, 1, 1])).toEqual([PORTION_ALL]);
});
