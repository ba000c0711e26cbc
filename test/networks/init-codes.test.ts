import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { keccak256 } from "ethers";
import { expect, it } from "vitest";
import { NETWORKS } from "../../src/networks/book.ts";
import { PANCAKESWAP_PAIR_CODE, UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "../../src/networks/init-codes.ts";
import { kindOf } from "../../src/service/pools/kinds.ts";

const require = createRequire(import.meta.url);

function creationCodeHash(path: string): string {
  const { bytecode } = JSON.parse(readFileSync(require.resolve(path), "utf8"));
  return keccak256(bytecode.startsWith("0x") ? bytecode : `0x${bytecode}`);
}

it("knows the codes by which Uniswap's factories create pools, as its packages have them", () => {
  expect(creationCodeHash("@uniswap/v2-core/build/UniswapV2Pair.json")).toBe(UNISWAP_PAIR_CODE);
  expect(creationCodeHash("@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json")).toBe(
    UNISWAP_POOL_CODE,
  );
});

it.each([...NETWORKS])(
  "%s has the code of each factory whose pools are computed, and names where it was read",
  (name, { protocols, noSettlement }) => {
    const computed = protocols.filter((protocol) => kindOf(protocol).leg?.found === "computed");
    const codes: readonly unknown[] = computed.map(({ initCodeHash }) => initCodeHash);
    // Where CREATE2 works otherwise no address follows from such a hash.
    const known = new Map([
      [1, UNISWAP_PAIR_CODE],
      [2, UNISWAP_POOL_CODE],
      [5, PANCAKESWAP_PAIR_CODE],
    ]);
    expect(codes).toEqual(computed.map(({ kind }) => (noSettlement === undefined ? known.get(kind) : undefined)));
    const others = protocols.filter((protocol) => !computed.includes(protocol));
    expect(others.filter(({ initCodeHash }) => initCodeHash !== undefined)).toEqual([]);
    const text = readFileSync(join(import.meta.dirname, `../../src/networks/${name}.ts`), "utf8");
    expect(/^ \* - init codes: \S+@[0-9a-f]{8} /m.test(text)).toBe(noSettlement === undefined);
  },
);
