import { describe, expect, it } from "vitest";
import { closest } from "../../src/config/closest.ts";
import { blankSecrets, formatProblems } from "../../src/config/problem.ts";
import { brief, MAIN, POLICY, problemsOf } from "./project.ts";

const KEY = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

it("two problems in one file are both reported, with line and column", () => {
  const policy = POLICY.replace('"500 USD"', "500").replace("max_slippage: 1%", "max_slipage: 1%");
  expect(problemsOf({ "policy.yaml": policy }).map(brief)).toEqual([
    '7:1 max_slipage: unknown key "max_slipage" -> did you mean "max_slippage"?',
    '2:12 max_trade: needs text with its unit, for example "500 USD"',
  ]);
});

it("problems of all files are reported together, also when the main file is broken", () => {
  const found = problemsOf({
    "main.yaml": MAIN.replace("mode: live", "mode: lively"),
    "policy.yaml": POLICY.replace("5gwei", "5"),
    "strategies/weekly.yaml": "kind: dca\nwallet: main\nsell: 100 USDD\nbuy: WETH\nschedule: { every: 6 hours }\n",
    "strategies/other.yaml": "kind: dcaa\n",
  }).map((problem) => `${problem.file.slice(problem.file.lastIndexOf("/") + 1)} ${brief(problem)}`);
  expect(found).toEqual([
    'main.yaml 2:7 mode: is none of the values known here -> did you mean "live"?',
    'policy.yaml 6:16 max_gas_price: needs text with its unit, for example "5gwei"',
    'other.yaml 1:7 kind: is no kind of strategy -> did you mean "dca"?',
    'weekly.yaml 5:20 schedule.every: "6 hours" is no duration -> write a whole number with s, m, h, d or w, for example 6h',
    'weekly.yaml 3:7 sell: the token "USDD" is not known -> did you mean "USDC"?',
  ]);
});

it("the formatted text shows place, line, caret and suggestion", () => {
  const found = problemsOf({ "policy.yaml": POLICY.replace("1.5%", "1.5") });
  const folder = found[0]?.file.slice(0, found[0].file.lastIndexOf("/")) ?? "";
  expect(formatProblems(found, folder)).toBe(
    [
      'policy.yaml:10:42: reference.tolerance: needs text with its unit, for example "1.5%"',
      "  10 | reference: { sources: [feed], tolerance: 1.5 }",
      `     | ${" ".repeat(41)}^`,
      "",
    ].join("\n"),
  );
});

describe("a secret that was put into the file by mistake is never shown", () => {
  const canary = "correct-horse-battery";
  it.each([
    ["a raw key as a wallet's value", `  main: { privateKey: "0x${KEY}" }`],
    ["a raw key as the name of a variable", `  main: { privateKey: { env: ${KEY} } }`],
    ["a raw key without quotes", `  main: { privateKey: 0x${KEY} }`],
    ["a password in its place", `  main: { keystore: { file: wallet.json }, password: ${canary} }`],
    ["a password under a wrong key", `  main: { keystore: { file: wallet.json }, password: { value: ${canary} } }`],
    [
      "a password on a line of its own",
      `  main:\n    keystore: { file: wallet.json }\n    password:\n      value: ${canary}`,
    ],
    [
      "an unknown key alongside the wallet",
      `  main: { keystore: { file: wallet.json }, password: { file: p } }\n  Other: { mnemonic: ${canary} }`,
    ],
  ])("%s", (_name, wallet) => {
    const text = MAIN.replace("  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }", wallet);
    expect(text).not.toBe(MAIN);
    shows(problemsOf({ "main.yaml": text }));
  });

  it.each([
    ["an RPC URL with its key", MAIN.replace("{ env: RPC_1 }", `{ url: "https://node.example/v3/${canary}" }`)],
    ["an RPC URL in place of a reference", MAIN.replace("{ env: RPC_1 }", `"https://node.example/v3/${canary}"`)],
    ["an API key in its place", MAIN.replace("url: embedded", `url: embedded, apiKey: ${canary}`)],
    ["a service URL with a password", MAIN.replace("url: embedded", `url: "https://me:${canary}@host.example"`)],
    ["an unknown key at the top", `${MAIN}apikey: ${canary}\n`],
    [
      "the token of a bot that takes commands",
      `${MAIN}alerts:\n  commands:\n    telegram:\n      token: "${canary}"\n`,
    ],
    [
      "a token on a line of its own",
      `${MAIN}alerts:\n  commands:\n    telegram:\n      token:\n        ${canary}:AAH\n`,
    ],
    ["a token on a line that is no YAML", `${MAIN}alerts:\n\ttoken: ${canary}\n`],
    ["a topic in a map that is not closed", `${MAIN}alerts: { channels: { a: { topic: ${canary}\n`],
    ["a user in a map that is not closed", `${MAIN}alerts: { channels: { a: { "user": ${canary}\n`],
    ["a token under a name of one's own", `${MAIN}bot_token: ${canary}\n`],
    ["a password behind a sign of YAML", MAIN.replace("main: {", `main:\n    password: |${canary}\n    keystore: {`)],
    ["a password as the name of a variable", MAIN.replace("file: wallet.pass", `env: "${canary}!"`)],
  ])("%s", (_name, text) => {
    expect(text).not.toBe(MAIN);
    shows(problemsOf({ "main.yaml": text }));
  });

  it.each(["0012345678", "0xdeadbeefcafe", "12345:55"])("a password that YAML may read as a number: %s", (password) => {
    const text = MAIN.replace("{ file: wallet.pass }", password);
    const [problem, ...others] = problemsOf({ "main.yaml": text });
    expect(others).toEqual([]);
    expect(JSON.stringify(problem)).not.toContain(password);
    expect(problem?.suggestion).toContain("put it in quotes");
  });

  it("and what is next to it is", () => {
    const wallet = (text: string): string =>
      MAIN.replace("{ file: wallet.pass } }", `{ file: wallet.pass }, ${text} }`);
    const shown = formatProblems([
      ...problemsOf({ "main.yaml": wallet("addres: X") }),
      ...problemsOf({ "main.yaml": MAIN.replace("decimals: 6", "decimals: six") }),
      ...problemsOf({ "main.yaml": MAIN.replace("file: wallet.pass", "env: NO NAME") }),
      ...problemsOf({ "main.yaml": MAIN.replace("file: wallet.pass", '"env": "PASSWORD", fil: x') }),
    ]);
    expect(shown).toContain("6 |   main: ***\n");
    expect(shown).toContain("decimals: six");
  });

  it("in the environment when it is no key", () => {
    const env = { KEY: `0x${KEY}ff` };
    const text = MAIN.replace(/ {2}main: .*/, "  main: { privateKey: { env: KEY } }");
    shows(problemsOf({ "main.yaml": text }, env, { allowRawKey: true }));
    const beyondTheCurve = { KEY: "f".repeat(64) };
    const shown = formatProblems(problemsOf({ "main.yaml": text }, beyondTheCurve, { allowRawKey: true }));
    expect(shown).toContain("this is no private key");
    expect(shown).not.toContain("f".repeat(32));
  });

  function shows(problems: Parameters<typeof formatProblems>[0]): void {
    const shown = formatProblems(problems) + JSON.stringify(problems);
    expect(shown).not.toContain(canary);
    expect(shown).not.toContain(KEY);
  }
});

it("blanks keys and all of a URL but its host", () => {
  expect(blankSecrets(`x 0x${KEY} y`)).toBe("x *** y");
  expect(blankSecrets("see https://user:pass@node.example:8545/v3/abc?key=1 now")).toBe(
    "see https://***@node.example:8545/*** now",
  );
  expect(blankSecrets("see http://127.0.0.1:8545 now")).toBe("see http://127.0.0.1:8545 now");
});

it.each([
  ["slipage", "slippage"],
  ["price-impact", "price_impact"],
  ["apikey", "apiKey"],
  ["WEHT", "WETH"],
  ["Europe/Berln", "Europe/Berlin"],
  ["banana", undefined],
])("for %s means %s", (word, meant) => {
  const words = ["slippage", "price_impact", "apiKey", "WETH", "Europe/Berlin"];
  expect(closest(word, words)).toBe(meant);
});
