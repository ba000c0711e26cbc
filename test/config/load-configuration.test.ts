import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { PRESET_ADDRESSES } from "../../src/config/networks.ts";
import { brief, DCA, load, loaded, MAIN, POLICY, problemsOf, project, WALLET, write } from "./project.ts";

function mainProblems(text: string, env: Record<string, string> = {}): string[] {
  expect(text).not.toBe(MAIN);
  return problemsOf({ "main.yaml": text }, env).map(brief);
}

describe("a whole configuration", () => {
  it("is read with all defaults", () => {
    const configuration = loaded();
    expect(configuration).toMatchObject({
      mode: "live",
      network: {
        name: "base",
        chainId: 8_453,
        confirmations: 3,
        rpc: [{ env: "RPC_1" }],
        wrappedNative: "0x4200000000000000000000000000000000000006",
        settlement: "0x1111111111111111111111111111111111111111",
      },
      service: { profile: "swapd", url: "embedded", apiKey: undefined },
      policy: {
        maxTradeUsd: 500n * 10n ** 18n,
        recipients: [WALLET],
        gasReserve: 10n ** 16n,
        maxFeePerGas: 5n * 10n ** 9n,
        maxSlippage: 10_000n,
        referenceTolerance: 15_000n,
        pauseAfter: { failures: 3, withinSeconds: 3_600 },
      },
      listen: { host: "127.0.0.1", port: 9_464 },
      logLevel: "info",
      timing: { quoteLifetimeSeconds: 60, permitLifetimeSeconds: 600, pollIntervalMs: 2_000 },
      alerts: undefined,
    });
    expect(configuration.wallets.get("main")).toMatchObject({ address: WALLET, key: { kind: "keystore" } });
    expect(configuration.tokens.get("ETH")?.token).toEqual({
      symbol: "ETH",
      address: "0x0000000000000000000000000000000000000000",
      decimals: 18,
    });
    expect(configuration.tokens.get("USDC")?.feed?.heartbeatSeconds).toBe(86_400);
  });

  it("signs nothing unless it says live", () => {
    const text = MAIN.replace("mode: live\n", "");
    expect(loaded({ "main.yaml": text }).mode).toBe("dry-run");
  });

  it("has a hash that every file's text decides", () => {
    const hashes = [
      loaded(),
      loaded(),
      loaded({ "policy.yaml": POLICY.replace("500", "501") }),
      loaded({ "strategies/weekly.yaml": DCA.replace("100", "101") }),
      loaded({ "strategies/other.yaml": DCA }),
      loaded({ "main.yaml": `${MAIN}# changed\n` }),
    ].map((configuration) => configuration.hash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(5);
  });

  it("takes the caller's overrides over the file's", () => {
    const overrides = { mode: "dry-run", database: "/tmp/x.db", listen: { host: "127.0.0.1", port: 0 } } as const;
    expect(loaded({}, {}, { overrides })).toMatchObject(overrides);
  });
});

describe("a file that cannot be read is a problem, not a crash", () => {
  it("missing main file", () => {
    const outcome = loadConfiguration("/nowhere/main.yaml", {});
    expect(outcome).toMatchObject({
      ok: false,
      problems: [{ file: "/nowhere/main.yaml", line: 1, message: "the file does not exist" }],
    });
  });

  it("missing policy and strategies", () => {
    const text = MAIN.replace("policy.yaml", "nowhere.yaml").replace("strategies: strategies", "strategies: nowhere");
    const found = mainProblems(text);
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/^11:9 policy: the file .*nowhere\.yaml does not exist/);
    expect(found[1]).toMatch(/^12:13 strategies: the folder .*nowhere does not exist/);
  });

  it("too large", () => {
    expect(problemsOf({ "policy.yaml": `${POLICY}# ${"x".repeat(300_000)}\n` }).map(brief)[0]).toContain(
      "at most 262144 are read",
    );
  });

  it("not UTF-8", () => {
    const folder = project();
    writeFileSync(join(folder, "policy.yaml"), Buffer.from([0x76, 0xff, 0xfe]));
    expect(loadConfiguration(join(folder, "main.yaml"), {})).toMatchObject({
      problems: [{ path: "policy", message: expect.stringContaining("is no UTF-8 text") }],
    });
  });

  it("a folder in place of a file", () => {
    expect(mainProblems(MAIN.replace("policy.yaml", "strategies"))[0]).toContain("is no file");
  });

  it("a list in place of a map", () => {
    expect(problemsOf({ "policy.yaml": "- 1\n" }).map(brief)[0]).toContain("the file holds no map of keys");
  });
});

describe("the main file", () => {
  it.each([
    [
      "a missing key",
      MAIN.replace("policy: policy.yaml\n", ""),
      '1:1 policy: the key "policy" is missing -> it is the file with the owner\'s ceilings, relative to this file',
    ],
    [
      "an unknown version",
      MAIN.replace("version: 1", "version: 2"),
      "1:10 version: is none of the values known here -> write 1",
    ],
    [
      "an unknown network",
      MAIN.replace("name: base", "name: bass"),
      '3:18 network.name: the network "bass" is not built in -> did you mean "base"?',
    ],
    ["no RPC", MAIN.replace("[{ env: RPC_1 }]", "[]"), "3:29 network.rpc: needs at least one RPC endpoint"],
    [
      "both references",
      MAIN.replace("{ env: RPC_1 }", "{ env: RPC_1, file: x }"),
      "3:30 network.rpc.0: needs one of env and file -> write { env: NAME } or { file: path }",
    ],
    [
      "an RPC URL with a path",
      MAIN.replace("{ env: RPC_1 }", '{ url: "https://node.example/v3/abc" }'),
      "3:37 network.rpc.0.url: this URL holds more than a host, and that is usually a key -> put it into a file or an environment variable: { env: RPC_1 }",
    ],
    [
      "an RPC URL of another scheme",
      MAIN.replace("{ env: RPC_1 }", '{ url: "ws://node" }'),
      "3:37 network.rpc.0.url: is no http or https URL -> write for example http://127.0.0.1:8545",
    ],
    [
      "a fraction of a block",
      MAIN.replace("rpc: [", "confirmations: 1.5, rpc: ["),
      "3:39 network.confirmations: needs a whole number from 1 to 200",
    ],
    [
      "no confirmation at all",
      MAIN.replace("rpc: [", "confirmations: 0, rpc: ["),
      "3:39 network.confirmations: needs a whole number from 1 to 200",
    ],
    [
      "an unknown key deep inside",
      MAIN.replace("url: embedded", "uri: embedded"),
      '4:28 service.uri: unknown key "uri" -> did you mean "url"?',
    ],
    [
      "an embedded service of another kind",
      MAIN.replace("profile: swapd", "profile: fly"),
      '4:31 service.url: the embedded service speaks the profile swapd, not fly -> give the URL of the service: url: "https://..."',
    ],
    [
      "an API key over plain http",
      MAIN.replace("url: embedded", 'url: "http://host.example", apiKey: { env: KEY }'),
      "4:33 service.url: the API key would cross the network in the clear -> use https",
    ],
    [
      "live without a contract to sign for",
      MAIN.replace(/, settlement: "0x1+"/, ""),
      '4:10 service: no contract to sign for is known on base with the profile swapd -> give it as service.settlement: "0x...", or stay with mode: dry-run',
    ],
    [
      "an address with a wrong checksum",
      MAIN.replace("0x833589fCD6", "0x833589FCD6"),
      '8:20 tokens.USDC.address: the checksum of address "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913" is wrong: a digit may be mistyped -> copy it again from its source; with this checksum it would be "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"',
    ],
    [
      "an address that is too short",
      MAIN.replace("0x833589fCD6", "0x"),
      '8:20 tokens.USDC.address: "0xeDb6E08f4c7C32D4f71b54bdA02913" is no address -> an address is 0x and 40 hexadecimal digits, in quotes',
    ],
    [
      "wrong decimals of a known token",
      MAIN.replace("decimals: 6", "decimals: 18"),
      "8:76 tokens.USDC.decimals: this token has 6 decimals, not 18",
    ],
    [
      "one token under two names",
      MAIN.replace("0x2222222222222222222222222222222222222222", "0x4200000000000000000000000000000000000006"),
      "10:20 tokens.PEPE.address: is the address of WETH too -> name each token once",
    ],
    [
      "the native coin as a token",
      MAIN.replace("  PEPE:", "  ETH:"),
      '10:8 tokens.ETH: "ETH" is the native coin and is known already -> give the token another name',
    ],
    [
      "a feed that no preset has",
      MAIN.replace("decimals: 18 }\npolicy", "decimals: 18, feed: preset }\npolicy"),
      '10:86 tokens.PEPE.feed: the preset of this network has no price feed for this token\'s address -> write { address: "0x...", heartbeat: 1h }',
    ],
    [
      "an unknown feed word",
      MAIN.replace("decimals: 6, feed: preset", "decimals: 6, feed: presett"),
      '8:85 tokens.USDC.feed: is none of the values known here -> did you mean "preset"?',
    ],
    [
      "a wallet's name in capitals",
      MAIN.replace("  main:", "  Main:"),
      "6:3 wallets.Main: a name is lower-case letters, digits and hyphens, for example main",
    ],
    [
      "a log level",
      `${MAIN}log: { level: verbose }\n`,
      "13:15 log.level: is none of the values known here -> write debug or info or warn or error",
    ],
    [
      "an impossible port",
      `${MAIN}http: { listen: 127.0.0.1:70000 }\n`,
      '13:17 http.listen: "127.0.0.1:70000" is no host and port -> write for example 127.0.0.1:9464',
    ],
    [
      "a duration without unit",
      `${MAIN}retention: 90\n`,
      '13:12 retention: needs text with its unit, for example "90d"',
    ],
    [
      "a duration of nothing",
      `${MAIN}retention: 0d\n`,
      '13:12 retention: "0d" is not between 1ms and ten years -> write for example 90d',
    ],
    ["an empty value", MAIN.replace("policy: policy.yaml", "policy:"), "11:8 policy: is empty"],
  ])("%s", (_name, text, expected) => {
    expect(mainProblems(text).filter((problem) => !problem.includes('the wallet "main"'))).toContain(expected);
  });

  it("a broken part brings no second problem about what refers to it", () => {
    expect(mainProblems(MAIN.replace("0x833589fCD6", "0x833589FCD6"))).toHaveLength(1);
    expect(mainProblems(MAIN.replace("file: wallet.json", "file: nowhere.json"))).toHaveLength(1);
    expect(mainProblems(MAIN.replace("name: base", "name: bass"))).toHaveLength(1);
    expect(problemsOf({ "policy.yaml": POLICY.replace("[main]", "[mian]") }).map(brief)).toEqual([
      '4:14 recipients.0: "mian" is neither a wallet nor an address -> did you mean "main"?',
    ]);
  });
});

describe("wallets", () => {
  const raw = MAIN.replace(/ {2}main: .*/, "  main: { privateKey: { env: KEY } }");
  const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

  it("take a raw key only with the flag, and only from the environment", () => {
    expect(mainProblems(raw, { KEY })[0]).toContain("a raw key is accepted in the sandbox only, or with the flag");
    expect(loaded({ "main.yaml": raw }, { KEY }, { allowRawKey: true }).wallets.get("main")?.address).toBe(WALLET);
    const fromFile = raw.replace("env: KEY", "file: key.txt");
    expect(problemsOf({ "main.yaml": fromFile, "key.txt": KEY }, {}, { allowRawKey: true }).map(brief)[0]).toContain(
      "a raw key is never read from a file",
    );
  });

  it("name the variable that is not set, and nothing else", () => {
    expect(problemsOf({ "main.yaml": raw }, {}, { allowRawKey: true }).map(brief)).toEqual([
      "6:23 wallets.main.privateKey: the environment variable KEY is not set -> set it before the start",
    ]);
  });

  it("may state their address, which must be the keystore's", () => {
    const state = (address: string): string => MAIN.replace("{ keystore:", `{ address: "${address}", keystore:`);
    expect(loaded({ "main.yaml": state(WALLET) }).wallets.get("main")?.address).toBe(WALLET);
    const other = state(`0x${"3".repeat(40)}`);
    expect(mainProblems(other)[0]).toContain(`the keystore file is of another account: ${WALLET}`);
    const unread = other.replace("wallet.json", "nowhere.json");
    expect(loaded({ "main.yaml": unread }).wallets.get("main")?.address).toBe(`0x${"3".repeat(40)}`);
  });

  it("are refused when two names mean one account", () => {
    const twice = MAIN.replace("tokens:", "  twin: { keystore: { file: wallet.json }, password: { env: P } }\ntokens:");
    expect(mainProblems(twice)[0]).toContain('is the same account as "main"');
  });
});

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
      '2:12 max_trade: needs text with its unit, for example "500 USD"',
    ],
    [
      "another currency",
      POLICY.replace('"500 USD"', '"500 EUR"'),
      '2:12 max_trade: "500 EUR" is not in dollars -> write for example "500 USD"',
    ],
    [
      "a trade larger than a day",
      POLICY.replace('"500 USD"', '"5000 USD"'),
      "2:12 max_trade: is more than max_per_day, so it could never be used -> lower one or raise the other",
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
      '7:15 max_slippage: "1pp" is in percentage points, which mean something else here -> write for example 5% or 50bps',
    ],
    [
      "a slippage that is no limit",
      POLICY.replace("max_slippage: 1%", "max_slippage: 90%"),
      '7:15 max_slippage: "90%" is more than 50% -> use a smaller share',
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
      "an unknown source",
      POLICY.replace("[feed]", "[oracle]"),
      "10:24 reference.sources.0: is none of the values known here -> write feed",
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

describe("a network given by a file", () => {
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

  it("brings contracts, tokens and feeds, and lets the sandbox use a raw key", () => {
    const raw = main.replace(/ {2}main: .*/, "  main: { privateKey: { env: KEY } }");
    const env = { KEY: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d" };
    const configuration = loaded({ "main.yaml": raw, "network.json": JSON.stringify(facts) }, env);
    expect(configuration.network).toMatchObject({
      chainId: 31_337,
      settlement: facts.settlement,
      executor: facts.executor,
      protocols: facts.protocols,
      v3FeeTiers: [100, 500],
      hubTokens: [facts.tokens.WETH.address, facts.tokens.USDC.address],
      confirmations: 1,
    });
    expect(configuration.tokens.get("USDC")).toMatchObject({
      token: { address: facts.tokens.USDC.address, decimals: 6 },
      feed: { address: facts.tokens.USDC.feed },
    });
    expect(configuration.tokens.get("ETH")?.feed?.address).toBe(facts.nativeFeed);
  });

  it("is checked too, and a token that it lacks is named", () => {
    const broken = JSON.stringify({ ...facts, chainId: "31337", wrappedNative: undefined }, undefined, 1);
    const found = problemsOf({ "main.yaml": main, "network.json": broken }).map(brief);
    expect(found).toContain("2:13 chainId: needs a whole number from 1 to 4503599627370496");
    expect(found.some((problem) => problem.includes('the key "wrappedNative" is missing'))).toBe(true);
    const unknown = main.replace("  USDC: {", "  DAI: { address: preset, decimals: 18 }\n  USDC: {");
    expect(problemsOf({ "main.yaml": unknown, "network.json": JSON.stringify(facts) }).map(brief)).toContain(
      '8:19 tokens.DAI.address: the preset of this network knows no token "DAI" -> it knows WETH, USDC',
    );
  });
});

it("the built-in addresses carry right checksums", async () => {
  const { getAddress } = await import("ethers");
  for (const network of Object.values(PRESET_ADDRESSES)) {
    for (const address of Object.values(network)) expect(getAddress(address.toLowerCase())).toBe(address);
  }
});

it("a strategies folder takes YAML files only, each id once, with a name that lasts", () => {
  const files = { "strategies/notes.txt": "x", "strategies/a.yaml.bak": "x", "strategies/second.yml": DCA };
  expect(loaded(files).strategies.map((strategy) => strategy.spec.id)).toEqual(["second", "weekly"]);
  expect(problemsOf({ "strategies/weekly.yml": DCA }).map(brief)).toEqual([
    '1:1 : the strategy "weekly" stands in weekly.yaml too -> rename the file',
  ]);
  expect(problemsOf({ "strategies/My Plan.yaml": DCA })[0]?.message).toContain("the file's name is the strategy's id");
});

it("a thousand strategies load in a few seconds", () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`strategies/s${index}.yaml`, DCA]));
  const started = performance.now();
  const outcome = load(many);
  expect(outcome.ok).toBe(true);
  expect(performance.now() - started).toBeLessThan(6_000);
});

it("an empty folder of strategies is fine", () => {
  const folder = write({
    "main.yaml": MAIN,
    "policy.yaml": POLICY,
    "strategies/readme.md": "",
    "wallet.json": `{"address":"${WALLET.slice(2)}"}`,
  });
  expect(loadConfiguration(join(folder, "main.yaml"), {})).toMatchObject({
    ok: true,
    configuration: { strategies: [] },
  });
});
