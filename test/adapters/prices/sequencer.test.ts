import { describe, expect, it } from "vitest";
import { whileSequencerIsUp } from "../../../src/adapters/prices/sequencer.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Chain } from "../../../src/ports/chain.ts";
import { chainWith, DEAD_CHAIN, encode, NOW, saying, WETH } from "./fixtures.ts";

const SEQUENCER = { address: toAddress(`0x${"55".repeat(20)}`), graceSeconds: 3_600 };

function chainOf(answer: bigint, startedAt: number): Chain {
  const round = encode(["uint80", "int256", "uint256", "uint256", "uint80"], [1, answer, startedAt, NOW, 1]);
  return chainWith({ [SEQUENCER.address]: { "latestRoundData()": round } });
}

async function priceOn(chain: Chain) {
  return await whileSequencerIsUp(SEQUENCER, saying("3000"), chain).price(WETH);
}

describe("prices of a rollup", () => {
  it("are used while its sequencer is up", async () => {
    expect(await priceOn(chainOf(0n, NOW - 100_000))).toHaveProperty("usd");
  });

  it("GRD-16 are not used while it is down", async () => {
    expect(await priceOn(chainOf(1n, NOW - 100_000))).toMatchObject({ missing: "sequencer down" });
  });

  it("GRD-16 are not used for an hour after it came back", async () => {
    expect(await priceOn(chainOf(0n, NOW - 3_600))).toMatchObject({ missing: "sequencer down" });
    expect(await priceOn(chainOf(0n, NOW - 3_601))).toHaveProperty("usd");
  });

  it("GRD-16 are not used where it changed in a block after the one that was read beside it", async () => {
    const [down, back] = await Promise.all([priceOn(chainOf(1n, NOW + 2)), priceOn(chainOf(0n, NOW + 2))]);
    expect(down).toMatchObject({ missing: "sequencer down", detail: "the sequencer is down for 0s" });
    expect(back).toMatchObject({ missing: "sequencer down", detail: expect.stringContaining("back for 0s only") });
  });

  it.each([
    ["is neither up nor down", chainOf(2n, NOW - 100_000)],
    ["has no round yet", chainOf(0n, 0)],
    ["changed in the future", chainOf(0n, NOW + 61)],
    ["reverts", chainWith({})],
  ])("are not used when its feed %s", async (_name, chain) => {
    expect(await priceOn(chain)).toMatchObject({ missing: "invalid" });
  });

  it("are not used when nobody can say", async () => {
    expect(await priceOn(DEAD_CHAIN)).toMatchObject({ missing: "unreachable" });
  });
});
