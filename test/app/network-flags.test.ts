import { describe, expect, it } from "vitest";
import { type GivenFlag, networksOf } from "../../src/app/network-flags.ts";

/** Flags as they are typed: `--rpc x` is the word rpc with its value. */
function given(...typed: readonly string[]): GivenFlag[] {
  return typed.map((one) => {
    const [flag = "", ...value] = one.split(" ");
    return { flag: flag as GivenFlag["flag"], value: value.join(" ") };
  });
}

describe("flags of networks", () => {
  it.each([
    ["in the order of today", ["network base", "rpc env:RPC", "settlement 0xab"]],
    ["before it", ["settlement 0xab", "rpc env:RPC", "network base"]],
    ["by its name", ["rpc base=env:RPC", "network base", "settlement base=0xab"]],
  ])("belong to the only one wherever they stand: %s", (_, typed) => {
    expect(networksOf(given(...typed))).toEqual([{ network: "base", rpc: "env:RPC", settlement: "0xab" }]);
  });

  it.each([
    ["the one before them", ["network base", "rpc env:A", "network mine", "rpc env:B", "preset mine.json"]],
    [
      "the one that they name",
      ["preset mine=mine.json", "network base", "network mine", "rpc mine=env:B", "rpc base=env:A"],
    ],
  ])("belong to %s where there are several", (_, typed) => {
    expect(networksOf(given(...typed))).toEqual([
      { network: "base", rpc: "env:A" },
      { network: "mine", rpc: "env:B", preset: "mine.json" },
    ]);
  });

  it("keep an = that belongs to a URL or to a file", () => {
    const typed = given("network base", "rpc https://node/?key=1=2", "preset a=b.json");
    expect(networksOf(typed)).toEqual([{ network: "base", rpc: "https://node/?key=1=2", preset: "a=b.json" }]);
  });

  it.each([
    ["one network twice", ["network base", "network base"], "--network base is given twice"],
    ["an endpoint twice", ["network a", "network b", "rpc env:A", "rpc env:B"], "name that one: --rpc a=..."],
    ["one before every network", ["rpc env:A", "network a", "network b"], "--rpc stands before every --network"],
    [
      "a name of no network",
      ["network a", "network b", "rpc c=env:C"],
      "names the network c, and --network names a, b",
    ],
    ["no network", ["settlement 0xab"], "--settlement belongs to a network, and no --network is given"],
  ])("are refused by name: %s", (_, typed, message) => {
    expect(() => networksOf(given(...typed))).toThrow(message);
  });
});
