import { describe, expect, it } from "vitest";
import type { RebalanceSpec } from "../../src/domain/strategy/rebalance-spec.ts";
import { brief, loaded, POLICY, problemsOf, REBALANCE, strategyProblems } from "./project.ts";

function spec(text: string): RebalanceSpec {
  const strategy = loaded({ "strategies/weekly.yaml": text }).strategies[0];
  if (strategy?.spec.kind !== "rebalance") throw new Error("no rebalance strategy was loaded");
  return strategy.spec;
}

const FULL = `kind: rebalance
wallet: main
quote: USDC
targets:
  WETH: { weight: 60%, bands: { relative: 10%, hard: { absolute: 20pp } } }
  USDC: rest
schedule: { every: 15m }
bands:
  soft: { relative: 20%, absolute: 5pp, for: 1h, cooldown: 2d }
  hard: { relative: 40% }
  trigger: all
  max_gap: 3d
destination: { to: edge, inward: 20% }
trades:
  min: "50 USDC"
  max_turnover: 10% per day
  order: pair-by-pair
  via: USDC
  leg_timeout: 1h
  on_incomplete: retry
cash: { asset: USDC, min: "500 USDC" }
on_deposit: buy-underweight
`;

describe("a rebalance strategy", () => {
  it("REB-1 is read with its weights and its rest", () => {
    expect(spec(REBALANCE)).toMatchObject({
      kind: "rebalance",
      quote: { symbol: "USDC" },
      targets: [
        { token: { symbol: "WETH" }, weight: 600_000n, exit: false, soft: { relative: 200_000n }, hard: undefined },
        { token: { symbol: "USDC" }, weight: 400_000n, exit: false, soft: { relative: 200_000n }, hard: undefined },
      ],
      bands: {
        trigger: "any",
        soft: { forSeconds: 0, cooldownSeconds: 0 },
        hard: { forSeconds: 0 },
        maxGapSeconds: 86_400,
      },
      destination: { to: "target" },
      trades: {
        ...{ min: 50_000_000n, maxUsd: 500n * 10n ** 18n, maxTurnover: { perDay: undefined, perRun: undefined } },
        ...{ order: "sells-first", via: undefined, legTimeoutSeconds: 21_600, onIncomplete: "hold" },
      },
      cash: undefined,
      onDeposit: "ignore",
    });
  });

  it.each([
    [
      "weights that are too little",
      REBALANCE.replace("USDC: rest", "USDC: 30%"),
      "4:10 targets: the weights sum to 90%, not to 100% -> change one of them to rest",
    ],
    [
      "nothing left for the rest",
      REBALANCE.replace("60%", "100%"),
      "4:10 targets: the weights sum to 100%, so nothing is left for the rest",
    ],
    ["two rests", REBALANCE.replace("60%", "rest"), "4:10 targets: only one token can be the rest, not WETH and USDC"],
    ["a single token", REBALANCE.replace("WETH: 60%, ", ""), "4:10 targets: a mix has at least two tokens"],
    [
      "a weight of nothing",
      REBALANCE.replace("60%", "0%"),
      "4:18 targets.WETH: a weight of nothing is no target -> leave the token out, or write { weight: 0%, exit: true } to sell all of it",
    ],
    ["a weight without unit", REBALANCE.replace("60%", "60"), "4:18 targets.WETH: needs a share such as 60%, or rest"],
    ["a weight as a float", REBALANCE.replace("60%", "0.6"), "4:18 targets.WETH: needs a share such as 60%, or rest"],
    [
      "a weight in basis points",
      REBALANCE.replace("60%", "6000bps"),
      '4:18 targets.WETH: "6000bps" is in basis points, which mean something else here -> write 60%',
    ],
    [
      "an unknown token",
      REBALANCE.replace("WETH:", "WETHH:"),
      '4:19 targets.WETHH: the token "WETHH" is not known -> did you mean "WETH"?',
    ],
    [
      "the same token twice",
      REBALANCE.replace("{ WETH: 60%,", "{ WETH: 60%, WETH: 10%,"),
      "4:23 targets.WETH: the same key occurs twice in this map, first in line 4 -> keep one of the two",
    ],
    [
      "points for a relative band",
      REBALANCE.replace("relative: 20%", "relative: 20pp"),
      '6:20 bands.relative: "20pp" is in percentage points, which mean something else here -> write 20%',
    ],
    [
      "a percentage for an absolute band",
      REBALANCE.replace("relative: 20%", "absolute: 5%"),
      '6:20 bands.absolute: "5%" is in per cent, which mean something else here -> write 5pp',
    ],
    [
      "no band",
      REBALANCE.replace("{ relative: 20% }", "{}"),
      "6:8 bands: needs relative, absolute or both -> for example { relative: 20% } or { absolute: 5pp }",
    ],
    [
      "a minimum in another token",
      REBALANCE.replace("50 USDC", "1 WETH"),
      "7:16 trades.min: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
  ])("%s is refused", (_name, text, expected) => {
    expect(strategyProblems(text)).toEqual([expected]);
  });
});

describe("a rebalance strategy with everything", () => {
  it("is read with its bands, limits, cash and deposits", () => {
    expect(spec(FULL)).toMatchObject({
      targets: [
        { weight: 600_000n, soft: { relative: 100_000n, absolute: undefined }, hard: { absolute: 200_000n } },
        { weight: 400_000n, soft: { relative: 200_000n, absolute: 50_000n }, hard: { relative: 400_000n } },
      ],
      bands: {
        ...{ trigger: "all", maxGapSeconds: 259_200, hard: { forSeconds: 0 } },
        soft: { forSeconds: 3_600, cooldownSeconds: 172_800 },
      },
      destination: { to: "edge", inward: 200_000n },
      trades: {
        ...{ maxTurnover: { perDay: 100_000n, perRun: undefined }, order: "pair-by-pair", via: { symbol: "USDC" } },
        ...{ legTimeoutSeconds: 3_600, onIncomplete: "retry" },
      },
      cash: { token: { symbol: "USDC" }, min: 500_000_000n },
      onDeposit: "buy-underweight",
    });
  });

  it.each([
    ["edge", { to: "edge", inward: 150_000n }],
    ["target", { to: "target" }],
    ["{ to: fraction, share: 50% }", { to: "fraction", share: 500_000n }],
  ])("goes to %s", (text, destination) => {
    expect(spec(FULL.replace("{ to: edge, inward: 20% }", text)).destination).toEqual(destination);
  });

  it.each([
    ["5% per run", { perDay: undefined, perRun: 50_000n }],
    ["{ per_day: 10%, per_run: 5% }", { perDay: 100_000n, perRun: 50_000n }],
  ])("turns over at most %s", (text, turnover) => {
    expect(spec(FULL.replace("10% per day", text)).trades.maxTurnover).toEqual(turnover);
  });

  it("trades by the calendar alone with bands: none, and sells out what has no weight", () => {
    const calendar = REBALANCE.replace("{ relative: 20% }", "none");
    expect(spec(calendar).bands).toBe("none");
    const leaving = REBALANCE.replace("{ WETH: 60%, USDC: rest }", "{ WETH: { weight: 0%, exit: true }, USDC: rest }");
    expect(spec(leaving).targets).toMatchObject([{ weight: 0n, exit: true }, { weight: 1_000_000n }]);
  });

  it.each([
    ["inward: 20%", "share: 20%", "13:33 destination.share: means nothing on the way to edge -> leave it out"],
    [
      "{ to: edge, inward: 20% }",
      "{ to: fraction }",
      "13:14 destination: needs a share of the way that is more than nothing -> write { to: fraction, share: 50% }",
    ],
    [
      "{ to: edge, inward: 20% }",
      "edges",
      '13:14 destination: is none of the values known here -> did you mean "edge"?',
    ],
    ["10% per day", "10%", '16:17 trades.max_turnover: "10%" is no turnover -> write 10% per day or 10% per run'],
    [
      "10% per day",
      "{}",
      "16:17 trades.max_turnover: needs per_day, per_run or both, more than nothing -> for example { per_day: 10%, per_run: 5% }, or 10% per day",
    ],
    [
      "{ relative: 40% }",
      "{ relative: 20% }",
      "10:21 bands.hard.relative: must be wider than the soft band of 20%, or soft would never be reached -> use more than 20%, or a narrower soft band",
    ],
    [
      "{ relative: 40% }",
      "{ for: 10m }",
      "10:9 bands.hard: needs relative, absolute or both -> for example { relative: 20% } or { absolute: 5pp }",
    ],
    [
      "  trigger: all",
      "  relative: 5%",
      "9:9 bands.soft: stands next to relative or absolute, which are the soft band too -> move them into soft",
    ],
    ["cooldown: 2d", "cooldwn: 2d", '9:50 bands.soft.cooldwn: unknown key "cooldwn" -> did you mean "cooldown"?'],
    [
      "{ relative: 40% }",
      "{ relative: 40%, cooldown: 1d }",
      '10:26 bands.hard.cooldown: unknown key "cooldown" -> it belongs into bands.soft: bands: { soft: { cooldown: ... } }',
    ],
    [
      "via: USDC",
      "via: PEPE",
      "18:8 trades.via: PEPE has no reference price, so it cannot be traded -> give tokens.PEPE a feed: preset, or { address, heartbeat }",
    ],
    [
      "  via: USDC\n",
      "",
      "17:10 trades.order: direct swaps sell and buy at once, so there is nothing to order -> leave it out, or name a token under via",
    ],
    [
      'min: "500 USDC"',
      'min: "1 WETH"',
      "21:27 cash.min: must be in USDC, not in WETH -> write how much it is in USDC",
    ],
    [
      "weight: 60%,",
      "weight: 60%, exit: true,",
      "5:30 targets.WETH.exit: a token that is sold out has no weight -> write { weight: 0%, exit: true }",
    ],
  ])("%s -> %s is refused", (from, to, expected) => {
    expect(strategyProblems(FULL.replace(from, to))).toEqual([expected]);
  });

  it("REB-1 is refused where it would trade a coin for its wrapped form, find no edge, or keep cash that it leaves", () => {
    expect(
      strategyProblems(REBALANCE.replace("{ WETH: 60%, USDC: rest }", "{ WETH: 30%, ETH: 30%, USDC: rest }")),
    ).toEqual(["4:28 targets.ETH: WETH and ETH are one coin and its wrapped form: that is no trade"]);
    expect(strategyProblems(REBALANCE.replace("{ relative: 20% }", "none\ndestination: edge"))).toEqual([
      "7:14 destination: without bands there is no edge -> use target, or give bands",
    ]);
    const leaving = '{ WETH: { weight: 0%, exit: true }, USDC: rest }\ncash: { asset: WETH, min: "1 WETH" }';
    expect(strategyProblems(REBALANCE.replace("{ WETH: 60%, USDC: rest }", leaving))).toEqual([
      "5:16 cash.asset: WETH has no weight in the mix, so none of it is sold anyway -> name a token of targets, or leave cash out",
    ]);
  });

  it("REB-27 whose purchases go where they do not count is refused: it would sell the mix empty", () => {
    expect(paying(`recipient: "${SAFE}"`)).toEqual([
      `8:12 recipient: what a rebalance buys would leave the mix, and it would sell itself empty -> leave it out, write main, or let what lies there count: external: [{ address: "${SAFE}" }]`,
    ]);
    expect(paying(`recipient: "${SAFE}"\nexternal: [{ address: "${SAFE}", tokens: [USDC] }]`)).toEqual([
      "8:12 recipient: what is bought of WETH would not count there, and be bought again and again -> name all tokens of targets in its entry of external, or none",
    ]);
    expect(paying(`recipient: "${SAFE}"\nexternal: [{ address: "${SAFE}" }]`, "[main]")).toEqual([
      expect.stringMatching(/^8:12 recipient: .* is none of the recipients that the policy allows/),
    ]);
  });

  it("REB-27 may pay a Safe that counts for all that it buys, and REB-34 then swaps directly", () => {
    const external = `recipient: "${SAFE}"\nexternal: [{ address: "${SAFE}" }]`;
    const files = {
      "policy.yaml": policyFor(`[main, "${SAFE}"]`),
      "strategies/weekly.yaml": `${REBALANCE}${external}\n`,
    };
    expect(loaded(files).strategies[0]?.spec).toMatchObject({ recipient: SAFE, wallet: { name: "main" } });
    const over = REBALANCE.replace('min: "50 USDC"', 'min: "50 USDC", via: USDC');
    expect(paying(external, undefined, over)).toEqual([
      "7:32 trades.via: what the sells bring would be paid to the recipient too, and nothing be left for the buys -> leave it out, or the recipient",
    ]);
  });
});

const SAFE = "0x1111111111111111111111111111111111111111";

function policyFor(recipients: string): string {
  return POLICY.replace("[main]", recipients);
}

function paying(text: string, recipients = `[main, "${SAFE}"]`, mix = REBALANCE): string[] {
  return problemsOf({ "policy.yaml": policyFor(recipients), "strategies/weekly.yaml": `${mix}${text}\n` }).map(brief);
}

const COLD = "0x1111111111111111111111111111111111111111";

describe("external holdings in a file", () => {
  it("REB-29 are addresses, of the whole mix or of some tokens, and amounts", () => {
    const vault = "0x2222222222222222222222222222222222222222";
    const text = `${REBALANCE}external:\n  - { address: "${COLD}" }\n  - { address: "${vault}", tokens: [WETH] }\n  - "1.5 WETH"\n`;
    expect(spec(text).external).toMatchObject({
      watched: [
        { address: COLD, tokens: [{ symbol: "WETH" }, { symbol: "USDC" }] },
        { address: vault, tokens: [{ symbol: "WETH" }] },
      ],
      stated: [{ token: { symbol: "WETH" }, raw: 15n * 10n ** 17n }],
    });
    expect("external" in spec(REBALANCE)).toBe(false);
  });

  it.each([
    [
      "the own wallet",
      "{ address: main }",
      "8:23 external.0.address: is the strategy's own wallet, whose balances count already -> name where the rest is held",
    ],
    [
      "a name that is none",
      "{ address: mian }",
      '8:23 external.0.address: "mian" is neither a wallet nor an address -> did you mean "main"?',
    ],
    [
      "an address twice",
      `{ address: "${COLD}", tokens: [WETH] }, { address: "${COLD}", tokens: [USDC] }`,
      "8:98 external.1.address: stands in an entry before, and would count twice -> name all of its tokens in one entry",
    ],
    [
      "a token without weight",
      `{ address: "${COLD}", tokens: [WETH, ETH] }`,
      "8:84 external.0.tokens.1: ETH has no weight in the mix, so nothing of it counts -> name tokens of targets",
    ],
    [
      "a token twice",
      `{ address: "${COLD}", tokens: [WETH, WETH] }`,
      "8:84 external.0.tokens.1: WETH is listed twice -> name it once",
    ],
    ["an amount of no token", '"1.5 WETHH"', '8:12 external.0: the token "WETHH" is not known -> did you mean "WETH"?'],
    [
      "two amounts of a token",
      '"1.5 WETH", "2 WETH"',
      "8:24 external.1: an amount of WETH is stated already, and both would count -> write their sum",
    ],
    ["an empty list", "", "8:11 external: is empty"],
  ])("REB-33 %s is refused", (_name, entries, expected) => {
    expect(strategyProblems(`${REBALANCE}external: [${entries}]\n`)).toEqual([expected]);
  });

  it("REB-33 what is sold out counts nowhere else, and is left out by itself", () => {
    const leaving = REBALANCE.replace("{ WETH: 60%, USDC: rest }", "{ WETH: { weight: 0%, exit: true }, USDC: rest }");
    expect(spec(`${leaving}external: [{ address: "${COLD}" }]\n`).external).toMatchObject({
      watched: [{ tokens: [{ symbol: "USDC" }] }],
    });
    expect(strategyProblems(`${leaving}external: [{ address: "${COLD}", tokens: [WETH] }]\n`)).toEqual([
      "8:78 external.0.tokens.0: WETH is sold out, and what lies elsewhere is never sold -> leave it out",
    ]);
  });
});

describe("a coin in two forms", () => {
  const mix = (field: string) => REBALANCE.replace("WETH: 60%", `WETH: ${field}`);

  it("REB-35 counts with its wrapped token, also where all of the mix is watched", () => {
    const text = `${mix("{ weight: 60%, with: [ETH] }")}external: [{ address: "${COLD}" }]\n`;
    expect(spec(text)).toMatchObject({
      targets: [{ token: { symbol: "WETH" }, with: [{ symbol: "ETH" }] }, {}],
      external: { watched: [{ tokens: [{ symbol: "WETH" }, { symbol: "ETH" }, { symbol: "USDC" }] }] },
    });
    expect(spec(REBALANCE).targets.some((target) => "with" in target)).toBe(false);
  });

  it.each([
    [
      "[PEPE]",
      "4:40 targets.WETH.with.0: PEPE is not the other form of WETH: only a coin and its wrapped token are one and the same -> leave it out, or give it a weight of its own",
    ],
    [
      "[WETH]",
      "4:40 targets.WETH.with.0: WETH is not the other form of WETH: only a coin and its wrapped token are one and the same -> leave it out, or give it a weight of its own",
    ],
    ["[ETHH]", '4:40 targets.WETH.with.0: the token "ETHH" is not known -> did you mean "ETH"?'],
    ["[]", "4:39 targets.WETH.with: needs one token: a coin has one other form"],
  ])("REB-35 with: %s is refused", (names, expected) => {
    expect(strategyProblems(mix(`{ weight: 60%, with: ${names} }`))).toEqual([expected]);
  });

  it("REB-35 is refused for what is sold out", () => {
    expect(strategyProblems(mix("{ weight: 0%, exit: true, with: [ETH] }"))).toEqual([
      "4:50 targets.WETH.with: WETH is sold out, and its other form is never sold -> leave it out",
    ]);
  });
});
