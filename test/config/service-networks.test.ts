import { getAddress, keccak256 } from "ethers";
import { describe, expect, it } from "vitest";
import { NETWORK_PRESETS } from "../../src/config/networks.ts";
import { SERVICE_NETWORKS } from "../../src/config/service-networks.ts";
import { loadUniswap } from "../../src/sandbox/artifacts.ts";

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

it("knows these networks by the names that requests use", () => {
  const ids = Object.fromEntries([...SERVICE_NETWORKS].map(([name, { chainId }]) => [name, chainId]));
  expect(ids).toEqual(CHAIN_IDS);
});

describe.each([...SERVICE_NETWORKS])("%s", (_name, facts) => {
  it("has addresses with right checksums, each once, and a source for every fact", () => {
    const { wrappedNative, nativeFeed, multicall3, protocols, hubTokens, sources } = facts;
    const hubs = Object.values(hubTokens);
    const feeds = hubs.map(({ feed }) => feed).filter((feed) => feed !== undefined);
    const places = [
      wrappedNative,
      multicall3,
      ...protocols.map(({ factory }) => factory),
      ...hubs.map((hub) => hub.address),
    ];
    for (const address of [...places, nativeFeed, ...feeds]) expect(getAddress(address.toLowerCase())).toBe(address);
    expect(new Set([...places, ...feeds]).size).toBe(places.length + feeds.length);
    for (const source of Object.values(sources)) expect(source).toMatch(/@[0-9a-f]{8} |v2-core/);
    for (const protocol of protocols) expect(protocol.sources).toHaveLength(2);
  });

  it("creates its pools from the code that the packages hold, zksync alone from its own", () => {
    for (const { kind, initCodeHash } of facts.protocols) {
      const code = loadUniswap(kind === 1 ? "UniswapV2Pair" : "UniswapV3Pool").bytecode;
      if (facts.chainId === CHAIN_IDS.zksync) expect(initCodeHash).toMatch(/^0x0100/);
      else expect(initCodeHash).toBe(keccak256(code));
    }
  });
});

it("knows which networks charge for a transaction's data beside what is done with it, and how", () => {
  const charging = [...SERVICE_NETWORKS].filter(([, { dataFee }]) => dataFee !== undefined);
  expect(Object.fromEntries(charging.map(([name, { dataFee }]) => [name, dataFee]))).toEqual({
    arbitrum: "arbitrum",
    optimism: "op-stack",
    base: "op-stack",
  });
});

it("agrees with the daemon's own presets where both know a network", () => {
  for (const [name, preset] of NETWORK_PRESETS) {
    const facts = SERVICE_NETWORKS.get(name);
    expect(facts?.chainId).toBe(preset.chainId);
    expect(facts?.wrappedNative.toLowerCase()).toBe(preset.wrappedNative);
    expect(facts?.dataFee).toBe(preset.dataFee);
    expect(facts?.nativeFeed.toLowerCase()).toBe(preset.nativeFeed.address);
    expect(facts?.protocols.map(({ factory }) => factory.toLowerCase())).toEqual(
      preset.protocols.map(({ factory }) => factory),
    );
    for (const [symbol, token] of preset.tokens) {
      const hub = facts?.hubTokens[symbol];
      if (hub !== undefined) expect(hub.address.toLowerCase()).toBe(token.address);
    }
  }
});
