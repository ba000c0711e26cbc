import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { NETWORKS } from "../../../src/networks/book.ts";
import { executorList, isPoolKind, kindOf, POOL_KINDS } from "../../../src/service/pools/kinds.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const POOLS = join(SOURCE, "service/pools");

/** A comparison with a kind's number, an object with one, or a schema of one. */
const NAMED_BY_NUMBER = /\bkind(?: [=!]==|:) (?:\d|z\.(?:union\(\[z\.)?literal\(\d)/;

const folders = readdirSync(POOLS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && readdirSync(join(POOLS, entry.name)).includes("kind.ts"))
  .map(({ name }) => name);

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), "utf8") }));

test("no two kinds of pools share their number or their name, or one would be quoted and settled as the other", () => {
  expect(new Set(POOL_KINDS.map(({ number }) => number)).size).toBe(POOL_KINDS.length);
  expect(new Set(POOL_KINDS.map(({ source }) => source)).size).toBe(POOL_KINDS.length);
  for (const kind of POOL_KINDS) expect(kindOf({ kind: kind.number })).toBe(kind);
});

test("the numbers of kinds stay those of presets, stored rows and deployed executors", () => {
  const numbers = POOL_KINDS.map(({ number, source, leg }) => [number, source, leg?.executorKind]);
  for (const [number, source, executorKind] of [
    [1, "uniswap-v2", 1],
    [2, "uniswap-v3", 2],
    [3, "curve", 3],
    [4, "pancakeswap-v3", undefined],
    [5, "pancakeswap-v2", 1],
    [6, "uniswap-v4", 4],
    [7, "slipstream", undefined],
    [8, "solidly", undefined],
  ]) {
    expect(numbers).toContainEqual([number, source, executorKind]);
  }
});

test("a number of no kind is no pool's", () => {
  expect(isPoolKind(255)).toBe(false);
  expect(() => kindOf({ kind: 255 })).toThrow("255 is the number of no kind of pool");
});

test("the book of networks names kinds of pools that there are, and factories as the executor takes them", () => {
  const entries = [...NETWORKS.values()].flatMap(({ protocols }) => protocols);
  expect(entries.filter(({ kind }) => !isPoolKind(kind))).toEqual([]);
  const isPair = ({ kind }: { kind: number }) => kindOf({ kind }).leg?.executorKind === 1;
  expect(entries.filter((entry) => isPair(entry) !== entry.feePips > 0)).toEqual([]);
});

test("the book lists factories that our executor has no branch for behind all others, so that places are its own", () => {
  for (const [name, { protocols }] of NETWORKS) {
    const listed = executorList(protocols).map(({ factory }) => factory);
    expect(
      protocols.slice(0, listed.length).map(({ factory }) => factory),
      name,
    ).toEqual(listed);
  }
});

test("each network of the book trades through the router of the maker whose factories it names: on bsc PancakeSwap's", () => {
  const makers = [...NETWORKS].flatMap(([name, { router, routers, protocols }]) => {
    if (router === undefined) return [];
    const maker = router === routers.get("PancakeSwap SmartRouter") ? "pancakeswap" : "uniswap";
    const forms = protocols.flatMap((protocol) => {
      const hop = kindOf(protocol).router;
      return hop?.maker === maker ? [hop.form] : [];
    });
    return [[name, maker, forms.sort().join()]];
  });
  expect(makers).toHaveLength(7);
  for (const [name, maker, forms] of makers) {
    expect([name, maker, forms]).toEqual([name, name === "bsc" ? "pancakeswap" : "uniswap", "v2,v3"]);
  }
});

test("further routers of the book are those of Slipstream and of Solidly, one for each of their factories there", () => {
  const further = new Set<string | undefined>(["slipstream", "solidly"]);
  for (const [name, { furtherRouters, routers, protocols }] of NETWORKS) {
    const factories = protocols.filter((protocol) => further.has(kindOf(protocol).router?.maker));
    expect([name, furtherRouters.length]).toEqual([name, factories.length]);
    const named = [...routers].filter(([router]) => /Slipstream|Aerodrome|Velodrome/.test(router));
    expect(new Set(furtherRouters.map(({ address }) => address))).toEqual(new Set(named.map(([, address]) => address)));
  }
});

describe("a kind of pool is a folder and a line", () => {
  it("each folder with a kind is in the list", () => {
    const list = readFileSync(join(POOLS, "kinds.ts"), "utf8");
    expect(folders.filter((folder) => !list.includes(`"./${folder}/kind.ts"`))).toEqual([]);
    expect(folders).toHaveLength(POOL_KINDS.length);
  });

  it("nobody else names a kind by its number, but for the book of networks and the sandbox, which makes its own pools", () => {
    const named = files.filter(({ path, text }) => !/^(networks|sandbox)\//.test(path) && NAMED_BY_NUMBER.test(text));
    expect(named.map(({ path }) => path)).toEqual([]);
  });

  it("every command that reads files has unknown kinds refused", () => {
    const reads = /\bload(?:Configuration|InTurns)\b[^}]*\} from "[./]*config\/load-configuration\.ts"/;
    expect(files.filter(({ text }) => reads.test(text)).map(({ path }) => path)).toEqual(["app/load-configuration.ts"]);
    const reader = readFileSync(join(SOURCE, "app/load-configuration.ts"), "utf8");
    expect(reader).toContain("kindProblem");
  });

  it("nobody else looks into a kind's folder, but for who needs that kind alone", () => {
    const own = new Map([
      ["app/open-prices.ts", "prices over time are read from pools of Uniswap V3"],
      ["service/data-fees/sample-swaps.ts", "one leg stands for all in bytes that are only counted"],
    ]);
    const checking = files.filter(({ path, text }) => {
      const inside = folders.some((folder) => path.startsWith(`service/pools/${folder}/`));
      return !inside && folders.some((folder) => text.includes(`pools/${folder}/`));
    });
    expect(checking.map(({ path }) => path).sort()).toEqual([...own.keys()].sort());
  });
});
