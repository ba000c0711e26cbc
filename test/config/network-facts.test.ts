import { describe, expect, it } from "vitest";
import { NETWORKS } from "../../src/networks/book.ts";
import { kindProblem, POOL_KINDS } from "../../src/service/pools/kinds.ts";
import { brief, DCA, loaded, MAIN, POLICY, problemsOf } from "./project.ts";

const facts = {
  chainId: 31_337,
  wrappedNative: `0x${"a".repeat(40)}`,
  settlement: `0x${"b".repeat(40)}`,
  executor: `0x${"c".repeat(40)}`,
  protocols: [
    { kind: 1, factory: `0x${"d".repeat(40)}`, feePips: 3_000 },
    { kind: 2, factory: `0x${"e".repeat(40)}`, feePips: 0 },
  ],
  feeTiers: [100, 500],
  tokens: {
    WETH: { address: `0x${"a".repeat(40)}`, decimals: 18, feed: `0x${"9".repeat(40)}` },
    USDC: { address: `0x${"1".repeat(40)}`, decimals: 6, feed: `0x${"8".repeat(40)}` },
  },
  nativeFeed: `0x${"9".repeat(40)}`,
  somethingElse: true,
};
const main = MAIN.replace("name: base", "name: sandbox, preset: network.json")
  .replace(/, settlement: "0x1+"/, "")
  .replace(
    / {2}USDC: .*\n {2}WETH: .*\n {2}PEPE: .*\n/,
    "  USDC: { address: preset, decimals: 6, feed: preset }\n  WETH: { address: preset, decimals: 18, feed: preset }\n",
  );

describe("a network given by a file", () => {
  it("brings contracts, tokens and feeds, and lets the sandbox use a raw key", () => {
    const raw = main.replace(/ {2}main: .*/, "  main: { privateKey: { env: KEY } }");
    const env = { KEY: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d" };
    const configuration = loaded({ "main.yaml": raw, "network.json": JSON.stringify(facts) }, env);
    expect(configuration.network).toMatchObject({
      chainId: 31_337,
      settlement: facts.settlement,
      executor: facts.executor,
      protocols: facts.protocols,
      feeTiers: [100, 500],
      hubTokens: [facts.tokens.WETH.address, facts.tokens.USDC.address],
      confirmations: 1,
    });
    expect(configuration.tokens.get("USDC")).toMatchObject({
      token: { address: facts.tokens.USDC.address, decimals: 6 },
      feed: { address: facts.tokens.USDC.feed },
    });
    expect(configuration.tokens.get("ETH")?.feed?.address).toBe(facts.nativeFeed);
  });

  it("gives an empty transaction room for its data where gas pays for that", () => {
    const of = (more: object) =>
      loaded({ "main.yaml": main, "network.json": JSON.stringify({ ...facts, ...more }) }).network.emptyGasLimit;
    expect([of({}), of({ dataFee: "op-stack" }), of({ dataFee: "arbitrum" })]).toEqual([60_000n, 60_000n, 1_000_000n]);
  });

  it("may state the hash of the public router's code, which is of that router alone", () => {
    const { settlement, executor, ...others } = facts;
    const routerCodeHash = `0x${"5e".repeat(32)}`;
    const stated = JSON.stringify({ ...others, router: `0x${"7".repeat(40)}`, routerCodeHash });
    const of = (service: string) =>
      loaded({ "main.yaml": main.replace(/^service: .*$/m, service), "network.json": stated }).network.routerCodeHash;
    expect(of("service: { url: embedded }")).toBe(routerCodeHash);
    const other = `profile: public-routers, url: embedded, settlement: "0x${"6".repeat(40)}"`;
    expect(of(`service: { ${other} }`)).toBe(undefined);
    const wrong = stated.replace(routerCodeHash, "0x5E");
    expect(problemsOf({ "main.yaml": main, "network.json": wrong }).map(brief).join()).toContain(
      "routerCodeHash: needs the keccak-256 of the router's code",
    );
  });

  it("may state a feed with its heartbeat, and a token without one, which routes pass through", () => {
    const feed = { address: `0x${"8".repeat(40)}`, heartbeat: "2h" };
    const TWIN = { address: `0x${"2".repeat(40)}`, decimals: 6 };
    const stated = { ...facts, tokens: { ...facts.tokens, USDC: { ...facts.tokens.USDC, feed }, TWIN } };
    const configuration = loaded({ "main.yaml": main, "network.json": JSON.stringify(stated) });
    expect(configuration.tokens.get("USDC")?.feed).toEqual({
      address: feed.address,
      heartbeatSeconds: 7_200,
      marginSeconds: 300,
    });
    expect(configuration.network.hubTokens).toEqual([
      facts.tokens.WETH.address,
      facts.tokens.USDC.address,
      TWIN.address,
    ]);
  });

  it("is checked too, and a token that it lacks is named", () => {
    const broken = JSON.stringify({ ...facts, chainId: "31337", wrappedNative: undefined }, undefined, 1);
    const found = problemsOf({ "main.yaml": main, "network.json": broken }).map(brief);
    expect(found).toContain("2:13 chainId: needs a whole number from 1 to 4503599627370496, without quotes: 31337");
    expect(found.some((problem) => problem.includes('the key "wrappedNative" is missing'))).toBe(true);
    const unknown = main.replace("  USDC: {", "  DAI: { address: preset, decimals: 18 }\n  USDC: {");
    expect(problemsOf({ "main.yaml": unknown, "network.json": JSON.stringify(facts) }).map(brief)).toContain(
      '8:19 tokens.DAI.address: the preset of this network knows no token "DAI" -> it knows WETH, USDC',
    );
  });
});

describe("a factory whose kind of pools nobody has", () => {
  it("is refused with its place and the kinds that there are, alongside all other problems", () => {
    const refused = (kind: unknown) => {
      const protocols = [facts.protocols[0], { ...facts.protocols[1], kind }];
      const preset = JSON.stringify({ ...facts, confirmations: 0, protocols }, undefined, 1);
      return problemsOf({ "main.yaml": main, "network.json": preset }, {}, { kindProblem }).map(brief);
    };
    const other = "36:19 confirmations: needs a whole number from 1 to 200";
    const kinds = POOL_KINDS.map(({ number, source }) => `${number} (${source})`).join(", ");
    const unknown = `13:12 protocols.1.kind: 255 is the number of no kind of pool -> write one of ${kinds}`;
    expect(refused(255)).toEqual([other, unknown]);
    expect(refused("2")).toEqual([
      "13:12 protocols.1.kind: needs a whole number from 1 to 255, without quotes: 2",
      other,
    ]);
  });
});

describe.each([...NETWORKS])("the built-in network %s", (name, network) => {
  const priced = [...network.tokens].filter(([, { feed }]) => feed !== undefined);
  const lines = priced.map(
    ([symbol, { decimals }]) => `  ${symbol}: { address: preset, decimals: ${decimals}, feed: preset }\n`,
  );
  const [buy = ""] = priced.map(([symbol]) => symbol);
  const main = MAIN.replace("mode: live", "mode: dry-run")
    .replace("name: base", `name: ${name}`)
    .replace(/, settlement: "0x1+"/, "")
    .replace(/ {2}USDC: .*\n {2}WETH: .*\n {2}PEPE: .*\n/, lines.join(""));
  const files = {
    "main.yaml": main,
    "policy.yaml": POLICY.replace("0.01 ETH", `${network.first.gasReserve} ${network.nativeSymbol}`),
    "strategies/weekly.yaml": DCA.replace("WETH", buy),
  };

  it("serves the daemon with all its priced tokens, each with decimals, feed and a margin", () => {
    const configuration = loaded(files);
    expect(configuration.network).toMatchObject({
      chainId: network.chainId,
      hubTokens: [...network.tokens.values()].map(({ address }) => address),
    });
    for (const [symbol, token] of priced) {
      expect(configuration.tokens.get(symbol)?.feed).toEqual(token.feed);
      expect(token.feed?.marginSeconds).toBeGreaterThanOrEqual(300);
      expect(token.feed?.marginSeconds).toBeLessThanOrEqual(1_800);
    }
  });
});

it.each(["swapd", "fly"])("nothing is signed where our contracts cannot be, with the profile %s too", (profile) => {
  const main = MAIN.replace("name: base", "name: zksync")
    .replace("profile: swapd", `profile: ${profile}`)
    .replace(/ {2}(USDC|WETH): .*\n/g, (line) => line.replace("feed: preset", "").replace(", }", " }"));
  expect(problemsOf({ "main.yaml": main }).map(brief)).toContainEqual(
    expect.stringContaining("mode: nothing is signed on zksync: zksync is unsupported by the settlement contracts"),
  );
});
