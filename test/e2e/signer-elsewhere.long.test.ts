import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type SignerDouble, startSignerDouble } from "../support/signer-double/signer-double.ts";
import { endWhatIsLeft, makeFolder, run, type Started, start, until } from "./support/swapd.ts";

const POLICY = `version: 1
max_trade: "50000 USD"
max_per_day: "10000000 USD"
recipients: [main]
gas_reserve: "1 ETH"
max_gas_price: 100gwei
max_slippage: 2%
max_price_impact: 5%
max_fee: 20%
reference: { sources: [feed], tolerance: 20% }
pause_after: { failures: 1000, within: 1h }
gasless_untried: accept
`;

const strategy = (sell: string, gasless: string): string => `kind: dca
wallet: main
sell: "${sell}"
buy: WETH
schedule: { every: 3s }
execution: { gasless: ${gasless} }
`;

const worldSchema = z.object({
  ...{ serviceUrl: z.string(), rpcUrl: z.string(), apiKey: z.string(), chainId: z.number() },
  wallet: z.object({ address: z.string(), privateKey: z.string() }),
});

const folder = makeFolder();
let world: z.output<typeof worldSchema>;
let double: SignerDouble;
let config: string;

const LIFE_MS = 120_000;

beforeAll(async () => {
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--for", "20m", "--port", "0", "--json"]);
  world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
  double = await startSignerDouble({ chainId: world.chainId, keys: [world.wallet.privateKey], isDeterministic: false });
  const home = join(folder.path, "away");
  mkdirSync(join(home, "strategies"), { recursive: true });
  writeFileSync(join(home, "strategies", "own.yaml"), strategy("20 DAI", "never"));
  writeFileSync(join(home, "strategies", "gasless.yaml"), strategy("20 USDC", "only"));
  writeFileSync(join(home, "policy.yaml"), POLICY);
  config = join(home, "swapd.yaml");
  writeFileSync(
    config,
    `version: 1
mode: live
network: { name: sandbox, rpc: [{ env: RPC }], preset: ../.swapd/sandbox/network.json, confirmations: 1 }
service: { url: "${world.serviceUrl}", apiKey: { env: API_KEY } }
wallets:
  main: { signer: { url: "${double.url}", address: "${world.wallet.address}", timeout: 2s } }
tokens:
  WETH: { address: preset, decimals: 18, feed: preset }
  USDC: { address: preset, decimals: 6, feed: preset }
  DAI: { address: preset, decimals: 18, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
timing: { quoteLifetime: 20s, permitLifetime: 20s, pollInterval: 200ms }
`,
  );
}, LIFE_MS);

afterAll(async () => {
  await endWhatIsLeft();
  await double.stop();
  folder.remove();
});

function environment(more: Record<string, string> = {}): Record<string, string> {
  return { RPC: world.rpcUrl, API_KEY: world.apiKey, ...more };
}

function ask<T>(question: string): readonly T[] {
  const db = new Database(join(folder.path, "away", "swapd.db"), { readonly: true });
  try {
    return db.prepare<[], T>(question).all();
  } finally {
    db.close();
  }
}

const live = (env: Record<string, string> = {}): Started =>
  start(folder.path, ["start", "--config", config], environment(env));

/** Fills that were confirmed, by how they were executed. */
function fills(): Readonly<Record<string, number>> {
  const rows = ask<{ mode: string; count: number }>(
    "SELECT mode, count(*) AS count FROM swaps WHERE state IN ('confirmed', 'final') GROUP BY mode",
  );
  return Object.fromEntries(rows.map(({ mode, count }) => [mode, count]));
}

const fewest = (): number => Math.min(fills().gasless ?? 0, fills()["self-executed"] ?? 0);

it("trades through a signer elsewhere, killed while it signs, and the audit finds nothing", {
  timeout: 6 * LIFE_MS,
}, async () => {
  const checked = await run(folder.path, ["check", "--config", config], environment());
  expect(checked.out).toMatch(/ok\s+signer of main .* worth nothing/);
  const KILLS = [
    "lane.sign.before",
    "lane.signed.before#2",
    "gasless.sign.after#2",
    "lane.signed.after",
    "gasless.sign.before#2",
    "effect.SignGasless.after",
  ];
  for (const label of KILLS) {
    const { code } = await live({ SWAPD_CRASH_AT: label }).ended;
    expect(code, label).toBeNull();
  }
  const daemon = live();
  const within = { process: daemon, withinMs: LIFE_MS };
  const before = fewest();
  await until("fills of both kinds after the kills", within, () => fewest() >= before + 2);
  // It hangs: nothing is signed, and an alert says so.
  double.misbehave = { before: () => new Promise(() => undefined) };
  const open = "SELECT code FROM alerts WHERE over_at_ms IS NULL AND code LIKE 'SIGN%'";
  await until("the alert of a signer that hangs", within, () => ask(open).length > 0);
  const hung = fewest();
  // It signs something else: nothing of that is sent.
  double.misbehave = { alter: (asked) => ({ ...asked, gasLimit: 999_999n }) };
  const differs = "SELECT code FROM alerts WHERE code = 'SIGNED_SOMETHING_ELSE'";
  await until("the alert of a signer that signs something else", within, () => ask(differs).length > 0);
  double.misbehave = {};
  await until("fills of both kinds once it signs again", within, () => fewest() >= hung + 2);
  await until("the end of its alerts", within, () => ask(open).length === 0);
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
  const methods = new Set(double.asked.map(({ method }) => method));
  expect([...methods].sort()).toEqual(["eth_accounts", "eth_signTransaction", "eth_signTypedData"]);
  const stored = ask<{ raw: string }>("SELECT raw FROM lane_attempts").length;
  const asked = double.asked.filter(({ method }) => method === "eth_signTransaction").length;
  expect(asked, "some answers were stored nowhere").toBeGreaterThan(stored);
  const audit = await run(folder.path, ["audit", "--json", "--config", config], environment());
  expect(audit, audit.out).toMatchObject({ code: 0 });
});
