import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { watchProcessorTime } from "../support/processor-time.ts";
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

  it("keeps the markers of a database that the caller chose apart from those of the file's", () => {
    const main = { "main.yaml": `${MAIN}identity: /var/lib/swapd/identity\n` };
    expect(loaded(main).identity).toBe("/var/lib/swapd/identity");
    const overrides = { database: "/tmp/sandbox/swapd.db" };
    expect(loaded(main, {}, { overrides }).identity).toBe("/tmp/sandbox/identity");
  });
});

describe("the retention", () => {
  it("is a quarter of a year, unless it is told otherwise", () => {
    expect(loaded().retentionMs).toBe(90 * 86_400_000);
    expect(loaded({ "main.yaml": `${MAIN}retention: 30d\n` }).retentionMs).toBe(30 * 86_400_000);
  });

  it("is never so short that limits would count what is gone", () => {
    expect(mainProblems(`${MAIN}retention: 6h\n`).join()).toContain("retention: is not between 1d and 3650d");
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

it("a strategies folder takes YAML files only, each id once, with a name that lasts", () => {
  const files = { "strategies/notes.txt": "x", "strategies/a.yaml.bak": "x", "strategies/second.yml": DCA };
  expect(loaded(files).strategies.map((strategy) => strategy.spec.id)).toEqual(["second", "weekly"]);
  expect(problemsOf({ "strategies/weekly.yml": DCA }).map(brief)).toEqual([
    '1:1 : the strategy "weekly" stands in weekly.yaml too -> rename the file',
  ]);
  expect(problemsOf({ "strategies/My Plan.yaml": DCA })[0]?.message).toContain("the file's name is the strategy's id");
});

it("hidden files of a strategies folder are none, as an editor's lock and a copy's other half: the daemon starts", () => {
  const folder = project({ "strategies/._weekly.yaml": "\u0000\u0005", "strategies/.weekly.yaml.swp": "b0VIM" });
  symlinkSync("somebody@somewhere.4711:1790000000", join(folder, "strategies/.#weekly.yaml"));
  const outcome = loadConfiguration(join(folder, "main.yaml"), {});
  expect(outcome).toMatchObject({ ok: true, configuration: { strategies: [{ spec: { id: "weekly" } }] } });
});

it("a strategy is not called global: that is the scope of all of them, and its own pause would be everybody's", () => {
  expect(problemsOf({ "strategies/global.yaml": DCA })).toMatchObject([
    { file: expect.stringContaining("global.yaml"), suggestion: "rename the file" },
  ]);
});

it("a thousand strategies load in a few seconds", () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`strategies/s${index}.yaml`, DCA]));
  const usedMs = watchProcessorTime();
  const outcome = load(many);
  expect(outcome.ok).toBe(true);
  expect(usedMs()).toBeLessThan(6_000);
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
