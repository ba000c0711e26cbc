import { expect, test } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { PoolState } from "../../../src/service/pools/pool.ts";
import { pairState } from "../../../src/service/pools/uniswap-v2/pair.ts";
import { createEdge, type OpenEdge } from "../../../src/service/routing/edge.ts";
import { keepSplit, type OpenPath, openPaths } from "../../../src/service/routing/split.ts";

const token = (index: number) => toAddress(`0x${index.toString(16).padStart(40, "0")}`);
const [A, B, C, D] = [token(1), token(2), token(3), token(4)] as const;

function pair(tokenIn: typeof A, tokenOut: typeof A, place: number): PoolState {
  const [token0, token1] = tokenIn < tokenOut ? [tokenIn, tokenOut] : [tokenOut, tokenIn];
  const pool = { kind: 1, protocol: 0, address: token(place), token0, token1, feePips: 3000, tickSpacing: 0 } as const;
  return pairState(pool, 10n ** 12n, 10n ** 12n);
}

const pools = {
  ab: pair(A, B, 11),
  otherAb: pair(A, B, 12),
  ac: pair(A, C, 13),
  cb: pair(C, B, 16),
  cd: pair(C, D, 14),
  db: pair(D, B, 15),
};
const ab = createEdge(A, B, [pools.ab, pools.otherAb]);
const ac = createEdge(A, C, [pools.ac]);
const cb = createEdge(C, B, [pools.cb]);
const cd = createEdge(C, D, [pools.cd]);
const db = createEdge(D, B, [pools.db]);
const paths = [[ab], [ac, cb], [ac, cd, db]];

/** The edges of a split that gave 40 and 10 to the pools between A and B, and the rest to C and on to B. */
function earlier(): readonly OpenEdge[] {
  const edges = [...new Set(openPaths([[ab], [ac, cb]], new Set()).flat())];
  for (const edge of edges)
    edge.amounts.splice(0, edge.amounts.length, ...(edge.amounts.length === 2 ? [40, 10] : [50]));
  return edges;
}

function keep(...dropped: PoolState[]): { open: readonly OpenPath[]; kept: readonly OpenEdge[] | undefined } {
  const open = openPaths(paths, new Set(dropped));
  return { open, kept: keepSplit(open, earlier(), { from: A, to: B }) };
}

test("what the pools that stay got is kept, whatever place they have now", () => {
  const { kept } = keep(pools.ab);
  expect(kept?.map(({ tokenIn, tokenOut, amounts }) => [tokenIn, tokenOut, amounts])).toEqual([
    [A, B, [10]],
    [A, C, [50]],
    [C, B, [50]],
  ]);
});

test("nothing goes on to a token that nothing leaves any more", () => {
  const { open, kept } = keep(pools.cb);
  expect(kept?.map(({ tokenIn, tokenOut }) => [tokenIn, tokenOut])).toEqual([[A, B]]);
  const got = open.flat().filter((edge) => edge.amounts.some((amount) => amount > 0));
  expect(got).toEqual(kept);
});

test("a split of which no way is left is none", () => {
  expect(keep(pools.ab, pools.otherAb, pools.cb).kept).toBeUndefined();
  expect(keepSplit(openPaths(paths, new Set()), [], { from: A, to: B })).toBeUndefined();
});
