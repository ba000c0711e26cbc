import { describe, expect, it } from "vitest";
import { brief, loaded, MAIN, POLICY, problemsOf } from "./project.ts";

describe("the policy", () => {
  it.each([
    [
      "an amount without unit",
      POLICY.replace('"500 USD"', '"500"'),
      '2:12 max_trade: "500" is no amount with its unit -> write for example "500 USD"',
    ],
    ["a dollar sign", POLICY.replace('"500 USD"', '"$500"'), '2:12 max_trade: "$500" names no unit -> write "500 USD"'],
    [
      "a float",
      POLICY.replace('"500 USD"', "500.5"),
      '2:12 max_trade: needs text with its unit, for example "500.5 USD"',
    ],
    [
      "another currency",
      POLICY.replace('"500 USD"', '"500 EUR"'),
      '2:12 max_trade: "500 EUR" is not in dollars -> write for example "500 USD"',
    ],
    [
      "a trade larger than a day",
      POLICY.replace('"500 USD"', '"5000 USD"'),
      "2:12 max_trade: 5000 USD is more than max_per_day of 1000 USD (policy.yaml:3:14), so it could never be used -> use at most 1000 USD, or raise max_per_day",
    ],
    [
      "a smallest trade above the largest",
      POLICY.replace("recipients", 'min_trade: "501 USD"\nrecipients'),
      "4:12 min_trade: 501 USD is more than max_trade of 500 USD (policy.yaml:2:12), so nothing could be traded -> use at most 500 USD, or raise max_trade",
    ],
    [
      "a month below a day",
      POLICY.replace("recipients", 'max_per_month: "999 USD"\nrecipients'),
      "4:16 max_per_month: 999 USD is less than max_per_day of 1000 USD (policy.yaml:3:14), so a day could never use its share -> use at least 1000 USD, or lower max_per_day",
    ],
    [
      "gas in a token",
      POLICY.replace("0.01 ETH", "10 USDC"),
      '5:14 gas_reserve: gas is paid in ETH here, not in USDC -> write "10 ETH"',
    ],
    [
      "a gas price without unit",
      POLICY.replace("5gwei", "5wei"),
      '6:16 max_gas_price: "5wei" is no price of gas -> write for example 5gwei or 0.05gwei',
    ],
    [
      "points where a share is meant",
      POLICY.replace("max_slippage: 1%", "max_slippage: 1pp"),
      '7:15 max_slippage: "1pp" is in percentage points, which mean something else here -> write 1%',
    ],
    [
      "a slippage that is no limit",
      POLICY.replace("max_slippage: 1%", "max_slippage: 90%"),
      '7:15 max_slippage: "90%" is more than 50% -> use at most 50%',
    ],
    [
      "yes for a share",
      POLICY.replace("max_slippage: 1%", "max_slippage: yes"),
      '7:15 max_slippage: "yes" is no share with its unit -> write for example 5% or 50bps',
    ],
    ["no recipient", POLICY.replace("[main]", "[]"), "4:13 recipients: needs at least one recipient"],
    [
      "an unquoted address",
      POLICY.replace("[main]", "[0x4200000000000000000000000000000000000006]"),
      '4:14 recipients.0: YAML reads an unquoted 0x... as a number and loses digits -> write "0x4200000000000000000000000000000000000006"',
    ],
    [
      "a token that the main file does not have",
      POLICY.replace("recipients", "tokens: [USDC, WEHT]\nrecipients"),
      '4:16 tokens.1: "WEHT" is neither a token of the main file nor an address -> did you mean "WETH"?',
    ],
    [
      "a mistyped token address",
      POLICY.replace("recipients", 'tokens: [USDC, "0x42"]\nrecipients'),
      '4:16 tokens.1: "0x42" is no address -> an address is 0x and 40 hexadecimal digits, in quotes',
    ],
    [
      "no token at all",
      POLICY.replace("recipients", "tokens: []\nrecipients"),
      "4:9 tokens: needs at least one token; without the key all tokens of the main file may be traded",
    ],
    [
      "a spender by name",
      POLICY.replace("recipients", "spenders: [main]\nrecipients"),
      '4:12 spenders.0: "main" is no address -> an address is 0x and 40 hexadecimal digits, in quotes',
    ],
    [
      "a drawdown stop over a token without a price",
      POLICY.replace("recipients", "drawdown: { stop: 20%, over: 7d }\nrecipients"),
      "4:11 drawdown: the value of the wallets is never known while a token has no reference price: PEPE -> give it one, or take the token out of the main file",
    ],
    [
      "an unknown source",
      POLICY.replace("[feed]", "[oracle]"),
      "10:24 reference.sources.0: is none of the values known here -> write feed or twap or service",
    ],
    [
      "a magic zero",
      POLICY.replace("failures: 3", "failures: 0"),
      "11:26 pause_after.failures: needs a whole number from 1 to 1000",
    ],
  ])("%s", (_name, policy, expected) => {
    expect(problemsOf({ "policy.yaml": policy }).map(brief)).toEqual([expected]);
  });
});

describe("gasless orders that nobody can simulate", () => {
  it("are signed only where the owner wrote that down", () => {
    const accepts = (line: string) => loaded({ "policy.yaml": `${POLICY}${line}` }).policy.acceptsUntriedGasless;
    expect(["", "gasless_untried: deny\n", "gasless_untried: accept\n"].map(accepts)).toEqual([false, false, true]);
    expect(problemsOf({ "policy.yaml": `${POLICY}gasless_untried: yes\n` }).map(brief)).toEqual([
      expect.stringContaining("gasless_untried: is none of the values known here"),
    ]);
  });
});

describe("how swaps may be simulated", () => {
  it("GRD-26 is in ways that show every move, unless the owner permits others", () => {
    const ways = (line: string) => loaded({ "policy.yaml": `${POLICY}${line}` }).policy.trialWays;
    expect(ways("")).toEqual(["simulate", "trace"]);
    expect(ways("simulation: [simulate]\n")).toEqual(["simulate"]);
    expect(ways("simulation: [probe, simulate, probe]\n")).toEqual(["simulate", "probe"]);
  });

  it.each([
    [
      "simulation: []",
      "12:13 simulation: needs at least one of simulate, trace, probe: without a simulation nothing is signed",
    ],
    ["simulation: [prob]", '12:14 simulation.0: is none of the values known here -> did you mean "probe"?'],
    ["simulation: probe", "12:13 simulation: needs a list -> write [first, second]"],
  ])("is refused as %s", (line, expected) => {
    expect(problemsOf({ "policy.yaml": `${POLICY}${line}\n` }).map(brief)).toEqual([expected]);
  });
});

describe("the drawdown stop", () => {
  const MAIN_PRICED = MAIN.replace(/ {2}PEPE.*\n/, "");
  const withStop = (stop: string) => ({
    "main.yaml": MAIN_PRICED,
    "policy.yaml": POLICY.replace("recipients", `drawdown: { stop: ${stop}, over: 7d }\nrecipients`),
  });

  it("is a share and a time, and absent where nobody asks for it", () => {
    expect(loaded(withStop("20%")).policy.drawdown).toEqual({ stop: 200_000n, overSeconds: 604_800 });
    expect(loaded().policy.drawdown).toBeUndefined();
  });

  it.each(["0%", "100%"])("is no stop at %s", (stop) => {
    expect(problemsOf(withStop(stop)).map(brief)).toEqual([
      "4:19 drawdown.stop: a stop needs a share between zero and all of it -> write for example 20%",
    ]);
  });

  it.each([
    ["2m", "", "1m (timing.priceSampleInterval, main.yaml:1:1)", "3m"],
    ["1h", "timing: { priceSampleInterval: 30m }\n", "30m (timing.priceSampleInterval, main.yaml:12:32)", "90m"],
  ])("is refused over %s, in which it is looked at too seldom", (over, timing, place, least) => {
    const within = (text: string) => ({
      ...withStop("20%"),
      "policy.yaml": withStop("20%")["policy.yaml"].replace("7d", text),
    });
    const main = `${MAIN.replace(/^ {2}PEPE.*\n/m, "")}${timing}`;
    expect(problemsOf({ ...within(over), "main.yaml": main }).map(brief)).toEqual([
      `4:30 drawdown.over: the value of the wallets is looked at every ${place}, too seldom to see a fall within ${over} -> use at least ${least}, or lower timing.priceSampleInterval`,
    ]);
    expect(loaded({ ...within(least), "main.yaml": main }).policy.drawdown).toBeDefined();
  });
});
