import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { ROOT, typescriptBelow } from "./support/repository.ts";
import { localImportsOf } from "./support/syntax.ts";

const CRUISER = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
const CONFIGURATION = ".dependency-cruiser.cjs";

const cruiseResult = z.object({
  modules: z.array(
    z.object({ source: z.string(), dependencies: z.array(z.object({ module: z.string(), resolved: z.string() })) }),
  ),
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});
type CruiseResult = z.infer<typeof cruiseResult>;

/** Runs dependency-cruiser as `npm run check` does. It exits with the number of violations, so that is not looked at. */
function cruise(directory: string): CruiseResult {
  const run = spawnSync(process.execPath, [CRUISER, "--config", CONFIGURATION, "--output-type", "json", "src"], {
    cwd: directory,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (run.stdout === "") throw new Error(`dependency-cruiser said nothing but: ${run.stderr}`);
  return cruiseResult.parse(JSON.parse(run.stdout));
}

/** Who may import whom, written down a second time, so that a loosened configuration is noticed. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ["domain"],
  net: ["domain"],
  networks: [],
  chain: ["domain", "net", "networks", "ports"],
  config: ["domain", "networks"],
  storage: [],
  lane: ["domain", "ports"],
  engine: ["domain", "lane", "ports"],
  adapters: ["chain", "domain", "lane", "net", "ports", "storage"],
  service: ["chain", "lane", "net", "networks", "ports", "storage"],
  sandbox: ["net", "networks"],
  audit: ["net"],
  app: [
    "adapters",
    "audit",
    "chain",
    "config",
    "domain",
    "engine",
    "lane",
    "net",
    "networks",
    "ports",
    "sandbox",
    "service",
    "storage",
  ],
};
const ROOMS = Object.keys(MAY_IMPORT);

interface Plant {
  readonly path: string;
  readonly text: string;
  /** the rule that must report this file, undefined when none may */
  readonly rule: string | undefined;
}

/** Each room has a file to import; every pair of rooms gets a file that tries to. */
function roomPlants(): readonly Plant[] {
  const targets = ROOMS.map((room) => ({
    path: `src/${room}/place/target.ts`,
    text: "export const target = 1;\n",
    rule: undefined,
  }));
  const tries = ROOMS.flatMap((from) =>
    ROOMS.filter((to) => to !== from).map((to) => ({
      path: `src/${from}/place/tries-${to}.ts`,
      text: `import type { target } from "../../${to}/place/target.ts";\nexport type Tried = typeof target;\n`,
      rule: MAY_IMPORT[from]?.includes(to) === true ? undefined : `room-${from}`,
    })),
  );
  return [...targets, ...tries];
}

function importing(path: string, imported: string, rule: string | undefined): Plant {
  return { path, text: `import * as imported from "${imported}";\nexport const kept = imported;\n`, rule };
}

const OTHER_PLANTS: readonly Plant[] = [
  { path: "src/domain/money/amount.ts", text: "export const amount = 1n;\n", rule: undefined },
  ...["service", "networks", "sandbox", "audit"].map((room) =>
    importing(`src/${room}/place/uses-money.ts`, "../../domain/money/amount.ts", undefined),
  ),
  ...["domain", "networks", "ports", "lane", "engine"].flatMap((room) => [
    importing(`src/${room}/place/uses-package.ts`, "zod", `pure-${room}`),
    importing(`src/${room}/place/uses-node.ts`, "node:fs", `pure-${room}`),
  ]),
  importing("src/adapters/other/neighbour.ts", "../place/target.ts", "adapters-are-strangers"),
  importing("src/adapters/other/sibling.ts", "./neighbour.ts", undefined),
  importing("src/adapters/swap-service/wire/shared.ts", "../../place/target.ts", "adapters-are-strangers"),
  importing("src/adapters/swap-service/one/uses-wire.ts", "../wire/shared.ts", undefined),
  importing("src/adapters/swap-service/one/neighbour.ts", "../two/uses-wire.ts", "swap-services-are-strangers"),
  importing("src/adapters/swap-service/two/uses-wire.ts", "../wire/shared.ts", undefined),
  importing("src/adapters/notify/channels/one.ts", "./two/part.ts", "channel-kinds-are-strangers"),
  importing("src/adapters/notify/channels/two/part.ts", "../../../place/target.ts", "adapters-are-strangers"),
  importing("src/adapters/notify/channels/two/whole.ts", "./part.ts", undefined),
  importing("src/adapters/sqlite/daemon/store.ts", "../../place/target.ts", "adapters-are-strangers"),
  importing("src/adapters/sqlite/daemon/read-model.ts", "./store.ts", undefined),
  importing("src/app/place/reads-rows.ts", "../../adapters/sqlite/daemon/store.ts", "rows-stay-inside"),
  importing("src/app/place/reads.ts", "../../adapters/sqlite/daemon/read-model.ts", undefined),
  importing("src/service/place/reads-yaml.ts", "yaml", "kept-yaml"),
  importing("src/config/place/reads-yaml.ts", "yaml", undefined),
  importing("src/app/place/ticks.ts", "node-cron", "kept-node-cron"),
  importing("src/adapters/cron/ticks.ts", "node-cron", undefined),
  importing("src/app/place/calls.ts", "undici", "kept-undici"),
  importing("src/net/place/calls.ts", "undici", undefined),
  importing("src/app/place/opens.ts", "better-sqlite3", "kept-better-sqlite3"),
  importing("src/storage/place/opens.ts", "better-sqlite3", undefined),
  importing("src/service/routing/decodes.ts", "ethers", "no-ethers-on-the-hot-path"),
  importing("src/chain/at-block/decodes.ts", "ethers", "no-ethers-on-the-hot-path"),
  importing("src/chain/decodes.ts", "ethers", undefined),
  importing("src/service/settlement/decodes.ts", "ethers", undefined),
  {
    path: "src/main.ts",
    text: 'import "./app/place/target.ts";\nimport "./net/place/target.ts";\n',
    rule: "main-only-starts-app",
  },
  importing("src/app/place/imports-main.ts", "../../main.ts", "main-is-the-door"),
  importing("src/attic/forgotten.ts", "../net/place/target.ts", "every-file-in-a-room"),
  { path: "test/sample.ts", text: "export const sample = 1;\n", rule: undefined },
  importing("src/app/place/leans-on-tests.ts", "../../../test/sample.ts", "src-stands-alone"),
  importing("src/net/place/circle-one.ts", "./circle-two.ts", "no-cycles"),
  // a cycle is reported once, at the first of its files
  importing("src/net/place/circle-two.ts", "./circle-one.ts", undefined),
  { path: "src/net/place/orphan.ts", text: "export const alone = 1;\n", rule: "no-orphans" },
  importing("src/net/place/lost.ts", "./nowhere.ts", "no-unresolvable"),
  importing("src/net/place/develops.ts", "fast-check", "no-development-packages"),
  importing("src/net/place/unlisted.ts", "picomatch", "no-unlisted-packages"),
];

function plantTree(plants: readonly Plant[]): string {
  const directory = temporaryDirectory();
  for (const name of [CONFIGURATION, "package.json", "tsconfig.json"]) cpSync(join(ROOT, name), join(directory, name));
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  for (const { path, text } of plants) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

describe("import boundaries", () => {
  it("sees every module of src with each of its imports, and finds no violation", () => {
    const { modules, summary } = cruise(ROOT);
    const seen = new Map(modules.map((module) => [module.source, module.dependencies]));
    const files = typescriptBelow("src");
    expect([...seen.keys()].filter((path) => path.startsWith("src/")).sort()).toEqual(files);
    for (const path of files) {
      const resolved = new Set(seen.get(path)?.map((dependency) => dependency.resolved));
      expect(
        localImportsOf(path).filter((imported) => !resolved.has(imported)),
        path,
      ).toEqual([]);
    }
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual([]);
  });

  it("reports a planted violation of every rule, and nothing that the table allows", () => {
    const plants = [...roomPlants(), ...OTHER_PLANTS];
    const { summary } = cruise(plantTree(plants));
    const reported = new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
    const expected = plants.flatMap(({ path, rule }) => (rule === undefined ? [] : [`${rule}: ${path}`]));
    expect(expected.filter((line) => !reported.has(line))).toEqual([]);
    const innocent = new Set(plants.filter(({ rule }) => rule === undefined).map(({ path }) => path));
    expect(summary.violations.filter(({ from }) => innocent.has(from))).toEqual([]);
    const load = createRequire(import.meta.url);
    const rules = z
      .object({ forbidden: z.array(z.object({ name: z.string() })) })
      .parse(load(join(ROOT, CONFIGURATION)))
      .forbidden.map(({ name }) => name);
    expect(new Set(summary.violations.map(({ rule }) => rule.name))).toEqual(new Set(rules));
  });
});
