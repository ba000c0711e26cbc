import { isAbsolute } from "node:path";
import { describe, expect, it } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import { brief, loaded, MAIN, POLICY, problemsOf } from "./project.ts";

const POOL = "0xd0b53D9277642d899DF5C87A3966A349A798F224";
const TWAP = `twap: { pool: "${POOL}", window: 30m, quote: USDC }`;
const withTwap = MAIN.replace(/(WETH: .*feed: preset) }/, `$1, ${TWAP} }`);
const withReference = (reference: string): string => POLICY.replace(/reference: .*/, `reference: { ${reference} }`);
const SECOND = 'service: { profile: fly, url: "https://second.example", apiKey: { file: second.key } }';
const ALL = withReference(`sources: [feed, twap, service], tolerance: 1.5%, max_divergence: 80bps, ${SECOND}`);

describe("sources of the reference price", () => {
  it("are the feed alone, with bounds of divergence and peg, when nothing else is said", () => {
    const { reference, policy, network, tokens } = loaded();
    expect(reference).toEqual({ sources: ["feed"], service: undefined });
    expect(policy).toMatchObject({ maxDivergence: 20_000n, maxDepeg: 20_000n, pegged: [], roundTrip: undefined });
    expect(tokens.get("WETH")).toMatchObject({ twap: undefined, peg: undefined });
    const address = toAddress("0xBCF85224fc0756B9Fa45aA7892530B47e10b6433");
    expect(network.sequencer).toEqual({ address, graceSeconds: 3_600 });
  });

  it("are feed, pool and a second service, whose key is named from the policy's folder", () => {
    const { reference, policy, tokens } = loaded({ "main.yaml": withTwap, "policy.yaml": ALL });
    expect(reference).toMatchObject({
      sources: ["feed", "twap", "service"],
      service: { profile: "fly", url: "https://second.example" },
    });
    const key = reference.service?.apiKey;
    expect(key !== undefined && "file" in key && isAbsolute(key.file)).toBe(true);
    expect(policy.maxDivergence).toBe(8_000n);
    expect(tokens.get("WETH")?.twap).toMatchObject({
      ...{ pool: toAddress(POOL), windowSeconds: 1_800, minLiquidityUsd: 5_000_000n * 10n ** 18n },
      quote: { symbol: "USDC" },
    });
  });

  it("can price a token that has no feed by its pool alone", () => {
    const main = MAIN.replace(/(PEPE: .*decimals: 18) }/, `$1, ${TWAP} }`);
    const policy = withReference("sources: [feed, twap], tolerance: 1.5%");
    const dca = 'kind: dca\nwallet: main\nsell: "100 USDC"\nbuy: PEPE\nschedule: { every: 6h }\n';
    const { strategies } = loaded({ "main.yaml": main, "policy.yaml": policy, "strategies/weekly.yaml": dca });
    expect(strategies).toHaveLength(1);
    expect(problemsOf({ "strategies/weekly.yaml": dca }).map(brief)).toEqual([
      expect.stringContaining("PEPE has no reference price"),
    ]);
  });

  it.each([
    [
      "without the feed",
      MAIN,
      withReference("sources: [service], tolerance: 1.5%"),
      [
        "10:23 reference.sources: the feed is missing: pools and services give no dollars, and the ceilings are in dollars -> write for example [feed, twap]",
        '10:23 reference.sources: the second service is not given -> add service: { profile, url: "https://...", apiKey } next to it',
      ],
    ],
    [
      "twice",
      MAIN,
      withReference("sources: [feed, feed], tolerance: 1%"),
      ["10:23 reference.sources: names a source twice"],
    ],
    [
      "with pools that no token has",
      MAIN,
      withReference("sources: [feed, twap], tolerance: 1%"),
      ["10:23 reference.sources: no token has a twap -> give one to a token, or leave this source out"],
    ],
    [
      "without the pool that a token has",
      withTwap,
      POLICY,
      ["10:23 reference.sources: leaves out the twap of WETH -> write [feed, twap]"],
    ],
    [
      "without the service that is given",
      MAIN,
      withReference(`sources: [feed], tolerance: 1%, ${SECOND}`),
      ["10:23 reference.sources: leaves out the service that is given -> add service to it, or remove it"],
    ],
  ] as const)("GRD-18 are not named %s", (_name, main, policy, expected) => {
    expect(problemsOf({ "main.yaml": main, "policy.yaml": policy }).map(brief)).toEqual(expected);
  });
});

describe("the second service", () => {
  const ITSELF = "this is the host of the service that quotes, which cannot be its own reference";
  const quotedBy = (url: string): string => MAIN.replace("url: embedded", `url: "${url}"`);
  const secondAt = (url: string): string =>
    withReference(`sources: [feed, service], tolerance: 1%, service: { profile: swapd, url: "${url}" }`);

  it.each([
    ["https://quotes.example/api", "https://quotes.example/other"],
    ["https://quotes.example", "http://QUOTES.example:8443"],
    ["http://127.0.0.1:7000", "http://localhost:7000/"],
    ["embedded", "http://127.0.0.1:9465"],
  ])("GRD-18 is not the host of the one that quotes: %s and %s", (first, second) => {
    const problems = problemsOf({ "main.yaml": quotedBy(first), "policy.yaml": secondAt(second) }).map(brief);
    expect(problems).toEqual([expect.stringContaining(ITSELF)]);
  });

  it.each([
    ["https://quotes.example", "https://second.example"],
    ["http://127.0.0.1:7000", "http://127.0.0.1:7001"],
    ["embedded", "http://127.0.0.1:7001"],
  ])("is another one: %s and %s", (first, second) => {
    expect(loaded({ "main.yaml": quotedBy(first), "policy.yaml": secondAt(second) }).reference.service?.url).toBe(
      second,
    );
  });

  it("gets no key over the network in the clear, and is never embedded", () => {
    const keyed = secondAt("http://second.example").replace(" } }", ", apiKey: { env: KEY } } }");
    expect(problemsOf({ "policy.yaml": keyed }).map(brief)).toEqual([
      expect.stringContaining("the API key would cross the network in the clear"),
    ]);
    expect(problemsOf({ "policy.yaml": secondAt("embedded") }).map(brief)).toEqual([
      expect.stringContaining("the embedded service prices by the same pools"),
    ]);
  });
});

describe("a pool of a token", () => {
  const policy = withReference("sources: [feed, twap], tolerance: 1%");
  const problemsWith = (twap: string): string[] =>
    problemsOf({ "main.yaml": withTwap.replace(TWAP, `twap: { ${twap} }`), "policy.yaml": policy })
      .map(brief)
      .filter((problem) => problem.includes("tokens."));

  it.each([
    ["an unknown token", `pool: "${POOL}", window: 30m, quote: DAI`, 'the token "DAI" is not known'],
    ["itself", `pool: "${POOL}", window: 30m, quote: WETH`, "WETH cannot be priced in itself"],
    ["a token without a feed", `pool: "${POOL}", window: 30m, quote: PEPE`, "PEPE has no feed"],
    ["too short a window", `pool: "${POOL}", window: 299s, quote: USDC`, "is not between 5m and 1d"],
    ["too long a window", `pool: "${POOL}", window: 25h, quote: USDC`, "is not between 5m and 1d"],
  ])("is not priced in %s", (_name, twap, expected) => {
    expect(problemsWith(twap)).toEqual([expect.stringContaining(expected)]);
  });
});

describe("pegs and round trips", () => {
  it("come from the token's entry and from the policy", () => {
    const main = MAIN.replace(/(USDC: .*feed: preset) }/, "$1, peg: USD }");
    const policy = `${POLICY}max_depeg: 50bps\nround_trip: { max_loss: 5% }\n`;
    const found = loaded({ "main.yaml": main, "policy.yaml": policy }).policy;
    expect(found).toMatchObject({
      ...{ pegged: [toAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")], maxDepeg: 5_000n },
      roundTrip: { maxLoss: 50_000n, when: "first-buy" },
    });
    const always = policy.replace("max_loss: 5% }", "max_loss: 5%, when: always }");
    expect(loaded({ "policy.yaml": always }).policy.roundTrip?.when).toBe("always");
  });

  it("are to the dollar alone, and at most half may be lost", () => {
    const euro = MAIN.replace(/(USDC: .*feed: preset) }/, "$1, peg: EUR }");
    expect(problemsOf({ "main.yaml": euro }).map(brief)).toEqual([expect.stringContaining("tokens.USDC.peg")]);
    const all = `${POLICY}round_trip: { max_loss: 51% }\n`;
    expect(problemsOf({ "policy.yaml": all }).map(brief)).toEqual([expect.stringContaining("more than 50%")]);
  });
});
