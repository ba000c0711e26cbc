import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getAddress } from "ethers";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../src/networks/book.ts";
import { COMMON_FEES } from "../../src/networks/network.ts";

const FOLDER = join(import.meta.dirname, "../../src/networks");
const SOURCE = join(import.meta.dirname, "../../src");

const CHAIN_IDS = {
  ethereum: 1,
  polygon: 137,
  bsc: 56,
  arbitrum: 42_161,
  avalanche: 43_114,
  optimism: 10,
  base: 8_453,
  zksync: 324,
};

function literalsOf(file: string): string[] {
  return readFileSync(file, "utf8").match(/0x[0-9a-fA-F]{40}\b/g) ?? [];
}

it("knows these networks by the names that requests use", () => {
  const ids = Object.fromEntries([...NETWORKS].map(([name, { chainId }]) => [name, chainId]));
  expect(ids).toEqual(CHAIN_IDS);
});

it("knows which networks charge for a transaction's data alongside what is done with it, and how", () => {
  const charging = [...NETWORKS].filter(([, { dataFee }]) => dataFee !== undefined);
  expect(Object.fromEntries(charging.map(([name, { dataFee }]) => [name, dataFee]))).toEqual({
    arbitrum: "arbitrum",
    optimism: "op-stack",
    base: "op-stack",
  });
});

it("gives an empty transaction room for its data where gas pays for that", () => {
  const roomy = [...NETWORKS].filter(([, { emptyGasLimit }]) => emptyGasLimit > 60_000n);
  expect(roomy.map(([name, { emptyGasLimit }]) => [name, emptyGasLimit])).toEqual([
    ["arbitrum", 1_000_000n],
    ["zksync", 1_000_000n],
  ]);
});

it("raises fees after half a minute where blocks come fast, and sooner only by seconds", () => {
  const bumps = [...NETWORKS].map(([name, { fees }]) => [name, fees.bumpAfterBlocks]);
  expect(Object.fromEntries(bumps)).toEqual({
    ...{ ethereum: 5, polygon: 15, bsc: 67, arbitrum: 120, avalanche: 30, optimism: 15, base: 15, zksync: 30 },
  });
});

it("no other file of the program writes an address of the book down", () => {
  const booked = new Set(
    readdirSync(FOLDER).flatMap((file) => literalsOf(join(FOLDER, file)).map((one) => one.toLowerCase())),
  );
  const others = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.startsWith("networks/"),
  );
  const doubled = others.flatMap((file) => {
    return literalsOf(join(SOURCE, file))
      .filter((one) => booked.has(one.toLowerCase()))
      .map((one) => `${file}: ${one}`);
  });
  expect(doubled).toEqual([]);
});

describe.each([...NETWORKS])("%s", (name, network) => {
  const file = join(FOLDER, `${name}.ts`);

  it("has addresses with right checksums, each once, and names where each kind of fact was read", () => {
    const literals = literalsOf(file);
    for (const address of literals) expect(getAddress(address.toLowerCase())).toBe(address);
    expect(new Set(literals).size).toBe(literals.length);
    const text = readFileSync(file, "utf8");
    for (const kind of ["factories", "tokens", "feeds", "routers", "finality"]) {
      expect(text, kind).toMatch(new RegExp(`^ \\* - ${kind}: \\S+@[0-9a-f]{8} `, "m"));
    }
    expect(text).toMatch(/^ \* - heartbeats: \S+.*\b20\d\d-\d\d/m);
  });

  it("is of one piece: the coin is wrapped by its first token, twins have their original, feeds their rhythm", () => {
    const { tokens, wrappedNative, nativeFeed } = network;
    expect([...tokens.values()][0]).toEqual({ address: wrappedNative, decimals: 18, feed: nativeFeed });
    expect(new Set([...tokens.values()].map(({ address }) => address)).size).toBe(tokens.size);
    for (const { twinOf, feed } of tokens.values()) {
      if (twinOf !== undefined) expect(tokens.get(twinOf)?.twinOf).toBeUndefined();
      if (twinOf !== undefined) expect([...tokens.keys()]).toContain(twinOf);
      if (feed !== undefined) expect(feed.heartbeatSeconds).toBeGreaterThan(0);
      if (feed !== undefined) expect(feed.heartbeatSeconds).toBeLessThanOrEqual(86_400);
    }
    expect(tokens.get("USDC")?.feed).toBeDefined();
  });

  it("says who sees what is sent, and where that was read; it has relays where it says so", () => {
    const text = readFileSync(file, "utf8");
    expect(text).toMatch(/^ \* - sending: (?:\S+@[0-9a-f]{8} |https:\S+ \(of 20\d\d-\d\d\))/m);
    expect(network.relays.length > 0).toBe(network.sending === "private-relay");
    expect(network.sequencerFeed !== undefined).toBe(network.sending === "private-sequencer");
    const isCommon = network.fees === COMMON_FEES;
    if (!isCommon) expect(text).toMatch(/^ \* - fees: (?:\S+@[0-9a-f]{8} |https:\S+ \(of 20\d\d-\d\d\))/m);
    for (const { url } of network.relays) expect(new URL(url).protocol).toBe("https:");
  });

  it("says whether its sequencer is up where it has one", () => {
    const isRollup = ["arbitrum", "base", "optimism", "zksync"].includes(name);
    expect(network.sequencerFeed !== undefined).toBe(isRollup);
  });
});
