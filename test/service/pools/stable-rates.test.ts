import { expect, test } from "vitest";
import type { ReadWords } from "../../../src/chain/at-block/batch-reader.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { SELECTOR } from "../../../src/service/pools/selectors.ts";
import { stable } from "../../../src/service/pools/stable/kind.ts";
import { STABLE_SELECTOR } from "../../../src/service/pools/stable/selectors.ts";

const [FACTORY, POOL, ONE, TWO] = ["a", "b", "1", "2"].map((digit) => toAddress(`0x${digit.repeat(40)}`)) as [
  Address,
  Address,
  Address,
  Address,
];

/** A factory with one pool. @param rates whether the pool keeps rates @param types what its factory says of its coins */
function found(rates: boolean, types: readonly bigint[] | undefined) {
  const read: ReadWords = async (to, data) => {
    const selector = data.slice(0, 10);
    if (selector === STABLE_SELECTOR.findPoolForCoins) return data.endsWith("0") ? [BigInt(POOL)] : [0n];
    if (selector === STABLE_SELECTOR.getCoinIndices) return [0n, 1n, 0n];
    if (selector === SELECTOR.decimals) return [18n];
    if (selector === STABLE_SELECTOR.fee) return [4_000_000n];
    if (selector === STABLE_SELECTOR.storedRates) return rates && to === POOL ? [32n] : undefined;
    return selector === STABLE_SELECTOR.getPoolAssetTypes ? types : undefined;
  };
  const protocol = { kind: stable.number, factory: FACTORY, feePips: 0 };
  return stable.discover({ protocol, protocolIndex: 0, tokenA: ONE, tokenB: TWO, feeTiers: [] }, read);
}

test.each([
  ["keeps no rates", false, undefined, 1],
  ["keeps rates of plain coins", true, [32n, 2n, 0n, 0n], 1],
  ["asks an oracle for the rate of a coin", true, [32n, 2n, 0n, 1n], 0],
  ["asks a vault for the rate of a coin", true, [32n, 2n, 3n, 0n], 0],
  ["keeps rates that nobody reports anything of", true, undefined, 0],
  ["keeps rates of three coins", true, [32n, 3n, 0n, 0n], 0],
] as const)("a stable pool that %s: traded with or not", async (_what, rates, types, count) => {
  expect(await found(rates, types)).toHaveLength(count);
});
