import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { createIntlZones } from "../../src/adapters/zones/intl-zones.ts";
import { jsonSchemas, loadConfiguration } from "../../src/app/load-configuration.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { writeJsonSchema } from "../../src/config/json-schemas.ts";
import type { LoadOutcome } from "../../src/config/load-configuration.ts";
import { formatProblems } from "../../src/config/problem.ts";
import { readYaml } from "../../src/config/read-yaml.ts";
import { FILE_KINDS } from "../../src/config/strategy/kinds.ts";
import { worstCase } from "../../src/domain/forecast/worst-case.ts";
import { NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import type { UsdPrice } from "../../src/domain/money/price.ts";
import { initialStrategyMemory } from "../../src/domain/strategy/strategy.ts";
import { DCA, REBALANCE, THRESHOLD, WALLET, write } from "./project.ts";

const root = join(import.meta.dirname, "../..");

function configurationOf(outcome: LoadOutcome) {
  if (!outcome.ok) throw new Error(formatProblems(outcome.problems));
  return outcome.configuration;
}

function shipped(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

const world = {
  chainId: 31_337,
  wrappedNative: `0x${"a1".repeat(20)}`,
  settlement: `0x${"b1".repeat(20)}`,
  executor: `0x${"c1".repeat(20)}`,
  protocols: [{ kind: 1, factory: `0x${"d1".repeat(20)}`, feePips: 3_000 }],
  feeTiers: [500, 3_000],
  tokens: {
    WETH: { address: `0x${"a1".repeat(20)}`, decimals: 18, feed: `0x${"01".repeat(20)}` },
    USDC: { address: `0x${"a2".repeat(20)}`, decimals: 6, feed: `0x${"02".repeat(20)}` },
    DAI: { address: `0x${"a3".repeat(20)}`, decimals: 18, feed: `0x${"03".repeat(20)}` },
    WBTC: { address: `0x${"a4".repeat(20)}`, decimals: 8, feed: `0x${"04".repeat(20)}` },
    USDT: { address: `0x${"a5".repeat(20)}`, decimals: 6, feed: `0x${"05".repeat(20)}` },
  },
  nativeFeed: `0x${"01".repeat(20)}`,
};

const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

const EXAMPLES = readdirSync(join(root, "strategies/examples"));

/** The mainnet example with these strategies alongside it. */
function mainnetWith(strategies: Readonly<Record<string, string>>): LoadOutcome {
  const folder = write({
    ...strategies,
    "config/main.yaml": shipped("config/mainnet.example.yaml"),
    "config/policy.example.yaml": shipped("config/policy.example.yaml"),
  });
  return loadConfiguration(join(folder, "config/main.yaml"), {});
}

/** Before every day that an example names: whether one is over is asked by the release, once. */
const THEN_MS = Date.parse("2026-12-01T00:00:00Z");

/** Strategies of that instant, of a wallet that has enough of everything. */
function worldOf(
  strategies: Configuration["strategies"],
  tokens: Configuration["tokens"],
): Parameters<typeof worstCase>[0] {
  const nowMs = THEN_MS;
  const all = [...tokens.values()];
  const usd = (10n ** 18n) as UsdPrice;
  const held = new Map([...all.map(({ token }) => token.address), NATIVE_TOKEN].map((token) => [token, 10n ** 30n]));
  const wallets = new Map(
    strategies.map(({ spec }) => [spec.wallet.address, { free: held, balances: held, outside: held }]),
  );
  return {
    nowMs,
    strategies: strategies.map(({ spec }) => ({
      ...{ spec, memory: initialStrategyMemory(spec), handledMs: nowMs, barred: undefined },
      ...{ spent: new Map(), bought: new Map() },
    })),
    wallets,
    prices: new Map([...held.keys()].map((token) => [token, { usd, source: "feed", atSeconds: nowMs / 1_000 }])),
    bars: new Map(),
    limits: { maxTradeUsd: usd, maxPerDayUsd: usd, maxPerMonthUsd: undefined, minTradeUsd: undefined },
    trades: [],
    zones: createIntlZones(),
    slots: 1,
  };
}

describe("the files that are shipped", () => {
  it("the mainnet example loads without any secret, and signs nothing", () => {
    const files = Object.fromEntries(
      EXAMPLES.filter((name) => name !== "calm-mix.yaml").map((name) => [
        `config/strategies/${name}`,
        shipped(`strategies/examples/${name}`),
      ]),
    );
    const configuration = configurationOf(mainnetWith(files));
    expect(configuration.mode).toBe("paper");
    expect(configuration.strategies.map(({ spec }) => [spec.id, spec.kind])).toEqual([
      ["buy-the-dips", "dca"],
      ["fees-to-usdc", "sweep"],
      ["gas-tank", "sweep"],
      ["limit-buy", "threshold"],
      ["office-hours", "dca"],
      ["protect-eth", "threshold"],
      ["slow-exit", "twap"],
      ["take-profit", "threshold"],
      ["treasury-mix", "rebalance"],
      ["value-path", "value-averaging"],
      ["weekly-eth", "dca"],
    ]);
  });

  it("all examples in one folder are refused with one line: two mixes of one wallet", () => {
    const outcome = mainnetWith(
      Object.fromEntries(EXAMPLES.map((name) => [`config/strategies/${name}`, shipped(`strategies/examples/${name}`)])),
    );
    expect(outcome).toMatchObject({
      ok: false,
      problems: [
        {
          path: "targets",
          message:
            "treasury-mix and calm-mix (calm-mix.yaml:7:10) both keep WETH and USDC of wallet main at weights, so each would undo what the other trades",
        },
      ],
    });
    if (!outcome.ok) expect(outcome.problems).toHaveLength(1);
  });

  it.each(EXAMPLES)("the example %s can trade", (name) => {
    const text = shipped(`strategies/examples/${name}`);
    const { strategies, tokens } = configurationOf(mainnetWith({ [`config/strategies/${name}`]: text }));
    const worst = worstCase(worldOf(strategies, tokens));
    expect(worst.perMonthUsd).toBeGreaterThan(0n);
  });

  it("the mainnet example as it is lacks nothing but its strategies", () => {
    const outcome = loadConfiguration(join(root, "config/mainnet.example.yaml"), {});
    expect(outcome).toMatchObject({
      ok: false,
      problems: [{ path: "strategies", message: expect.stringContaining("config/strategies does not exist") }],
    });
  });

  it("the sandbox's load with the facts of its world, and have each kind and both ways of execution", () => {
    const folder = write({ "network.json": JSON.stringify(world) });
    const overrides = { preset: join(folder, "network.json"), listen: { host: "127.0.0.1", port: 0 } };
    const env = { SWAPD_SANDBOX_WALLET_KEY: KEY };
    const configuration = configurationOf(loadConfiguration(join(root, "config/sandbox.yaml"), env, { overrides }));
    expect(configuration.mode).toBe("live");
    expect(configuration.wallets.get("main")?.address).toBe(WALLET);
    expect(configuration.serve.relayer).toEqual({ kind: "raw", privateKey: { env: "SWAPD_SANDBOX_RELAYER_KEY" } });
    expect(configuration.database).toBe(join(root, ".swapd/sandbox/swapd.db"));
    const kinds = configuration.strategies.map(({ spec }) => spec.kind);
    expect(kinds).toHaveLength(9);
    expect(new Set(kinds)).toEqual(new Set(Object.keys(FILE_KINDS)));
    const choices = configuration.strategies.map(({ spec }) => spec.gasless);
    expect(choices).toContain("only");
    expect(choices).toContain("never");
  });
});

describe("the JSON Schemas", () => {
  it.each(Object.keys(jsonSchemas()))("%s is the one that the loader uses", (path) => {
    expect(shipped(path)).toBe(writeJsonSchema(jsonSchemas()[path] ?? {}));
  });

  it("accept what the loader accepts, and refuse an unknown key and a bare number", () => {
    const validate = new Ajv2020({ strict: false }).compile(jsonSchemas()["strategies/strategy.schema.json"] ?? {});
    const examples = ["examples", "sandbox"].flatMap((folder) =>
      readdirSync(join(root, "strategies", folder)).map((name) => shipped(join("strategies", folder, name))),
    );
    for (const text of [...examples, DCA, REBALANCE, THRESHOLD]) {
      const plain: unknown = JSON.parse(JSON.stringify(readYaml("x.yaml", text).source?.data));
      expect(validate(plain), JSON.stringify(validate.errors)).toBe(true);
      expect(validate({ ...(plain as object), unknown: 1 })).toBe(false);
    }
    const bare: unknown = JSON.parse(JSON.stringify(readYaml("x.yaml", DCA.replace('"100 USDC"', "100")).source?.data));
    expect(validate(bare)).toBe(false);
  });

  it("describe every file's keys", () => {
    const validate = new Ajv2020({ strict: false });
    for (const [path, file] of [
      ["config/swapd.schema.json", "config/sandbox.yaml"],
      ["config/swapd.schema.json", "config/mainnet.example.yaml"],
      ["config/policy.schema.json", "config/policy.example.yaml"],
      ["config/policy.schema.json", "config/sandbox.policy.yaml"],
    ] as const) {
      const plain: unknown = JSON.parse(JSON.stringify(readYaml(file, shipped(file)).source?.data));
      expect(validate.validate(jsonSchemas()[path] ?? {}, plain), JSON.stringify(validate.errors)).toBe(true);
    }
  });
});
