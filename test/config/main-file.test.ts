import { describe, expect, it } from "vitest";
import { brief, loaded, MAIN, POLICY, problemsOf, WALLET } from "./project.ts";

function mainProblems(text: string, env: Record<string, string> = {}): string[] {
  expect(text).not.toBe(MAIN);
  return problemsOf({ "main.yaml": text }, env).map(brief);
}

describe("the main file", () => {
  it.each([
    [
      "a missing key",
      MAIN.replace("policy: policy.yaml\n", ""),
      '1:1 policy: the key "policy" is missing -> add policy: policy.yaml (the file with the owner\'s ceilings, relative to this file)',
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
      "a private endpoint with a path that may be a key",
      MAIN.replace("rpc: [", 'submit: [{ url: "https://relay.example/key" }], rpc: ['),
      "3:40 network.submit.0.url: this URL holds more than a host, and that is usually a key -> put it into a file or an environment variable: { env: RPC_1 }",
    ],
    [
      "private sending to nobody",
      MAIN.replace("rpc: [", "submit: none, rpc: ["),
      "3:32 network.submit: is none of the values known here -> write public",
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
      '4:31 service.url: the embedded service speaks the profiles swapd and public-routers, not fly -> give the URL of the service: url: "https://..."',
    ],
    [
      "an API key over plain http",
      MAIN.replace("url: embedded", 'url: "http://host.example", apiKey: { env: KEY }'),
      "4:33 service.url: the API key would cross the network in the clear -> use https",
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
      "8:76 tokens.USDC.decimals: this token has 6 decimals, not 18 -> write 6",
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
      `${MAIN}timing: { shutdown: 90 }\n`,
      '13:21 timing.shutdown: needs text with its unit, for example "90s"',
    ],
    [
      "a duration of nothing",
      `${MAIN}timing: { shutdown: 0s }\n`,
      '13:21 timing.shutdown: "0s" is not between 1ms and ten years -> write for example 8s',
    ],
    [
      "prices that are recorded too seldom to know each hour",
      `${MAIN}timing: { priceSampleInterval: 31m }\n`,
      "13:32 timing.priceSampleInterval: is not between 1s and 30m",
    ],
    ["an empty value", MAIN.replace("policy: policy.yaml", "policy:"), "11:8 policy: is empty"],
  ])("%s", (_name, text, expected) => {
    expect(mainProblems(text).filter((problem) => !problem.includes('the wallet "main"'))).toContain(expected);
  });

  it.each([
    ["quoteLifetime", "1s and 7d"],
    ["permitLifetime", "1s and 7d"],
    ["pollInterval", "50ms and 10m"],
    ["requestTimeout", "100ms and 10m"],
    ["shutdown", "100ms and 1h"],
  ])("a %s that no timer of a machine keeps", (key, limits) => {
    const problem = `13:${13 + key.length} timing.${key}: is not between ${limits}`;
    expect(mainProblems(`${MAIN}timing: { ${key}: 30d }\n`)).toContain(problem);
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
  it("are watched by their address alone in a dry run, and nothing is signed for them", () => {
    const watched = MAIN.replace(/main: \{.*\}/, `main: { address: "${WALLET}" }`);
    const dry = watched.replace("mode: live", "mode: dry-run");
    expect(loaded({ "main.yaml": dry }).wallets.get("main")).toMatchObject({ address: WALLET, key: undefined });
    expect(problemsOf({ "main.yaml": watched }).map(brief)).toEqual([
      "6:9 wallets.main: this account is only watched, and the mode is live -> give it a key (swapd init asks for one; or swapd wallet new or import, then name keystore and password), or stay with mode: paper",
    ]);
  });

  const raw = MAIN.replace(/ {2}main: .*/, "  main: { privateKey: { env: KEY } }");
  const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

  it("take a raw key in the sandbox alone, and only from the environment", () => {
    expect(mainProblems(raw, { KEY })[0]).toContain("a raw key is accepted in the sandbox only");
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

  it("with a keystore that is there and cannot be read are not told to make a wallet", () => {
    const hintOf = (file: string) =>
      problemsOf({ "main.yaml": MAIN.replace("file: wallet.json", `file: ${file}`), "empty.json": "" }).map(
        ({ suggestion }) => suggestion,
      );
    expect(hintOf("strategies")).toEqual(["name the keystore's file"]);
    expect(hintOf("empty.json")).toEqual(["name the keystore's file"]);
    expect(hintOf("nowhere.json")).toEqual([expect.stringContaining("swapd wallet new")]);
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
