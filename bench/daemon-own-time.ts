import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { migrateDaemon } from "../src/adapters/sqlite/daemon/schema.ts";
import { createStore } from "../src/adapters/sqlite/daemon/store.ts";
import { migrateLane } from "../src/adapters/sqlite/lanes.ts";
import type { RunEvent } from "../src/domain/run/events.ts";
import type { Run } from "../src/domain/run/run.ts";
import { step } from "../src/domain/run/step.ts";
import { initialStrategyMemory } from "../src/domain/strategy/strategy.ts";
import { openDatabase } from "../src/storage/database.ts";
import { makeFolder, run, type Started, start, until } from "../test/e2e/support/swapd.ts";
import { dcaSpec, evidenceSample, runSample, viewSample } from "../test/support/builders.ts";

/**
 * What the daemon itself adds: how many durable transitions its store takes in a second, each commit for itself on this
 * machine's disk; how long a start takes until the first healthy answer; and the processor time of a whole swap, from its
 * slot to its finalised block, as it happens: a daemon of its own trades in a sandbox, self-executed with an approval and
 * gasless, and what it needs without trading is taken off. `--seconds N` says how long it trades each way. Ends with 1
 * when a gate is missed. Run it alone.
 */
const GATES = { transitionsPerSecond: 1_000, ownTimeMs: 10, healthMs: 1_000 };
const RUNS = 1_500;
const STARTS = 5;
const SECONDS = secondsOf(process.argv);
const CLOCK_TICKS_PER_SECOND = 100;
/** From here on a swap is over: nothing but looks at its finality follows. */
const ENDED = "('confirmed', 'final')";

function secondsOf(args: readonly string[]): number {
  const at = args.indexOf("--seconds");
  return at === -1 ? 60 : Number(args[at + 1]);
}

/** Takes runs through their first steps, as the engine commits them. @returns durable transitions a second */
function measureStore(): number {
  const folder = mkdtempSync(join(tmpdir(), "swapd-bench-store-"));
  const db = openDatabase({ file: join(folder, "swapd.db") });
  migrateDaemon(db);
  migrateLane(db);
  const store = createStore(db);
  const facts = evidenceSample();
  const spec = dcaSpec();
  const memory = JSON.stringify(initialStrategyMemory(spec));
  store.saveStrategy({ id: spec.id, kind: spec.kind, specHash: "bench", spec, memory, lastSlotMs: 0 }, facts.nowMs);
  let transitions = 0;
  const commit = (run: Run, event: RunEvent): Run => {
    const result = step(run, event, facts);
    store.transaction(() => {
      store.saveRun(result.run, result.transitions, facts.nowMs);
      for (const record of result.records) store.writeRecord(result.run, record, facts.nowMs);
      store.addEffects(run.id, result.effects, facts.nowMs);
    });
    transitions += result.transitions.length;
    return result.run;
  };
  const beganMs = performance.now();
  for (let index = 0; index < RUNS; index += 1) {
    const run = runSample({ id: `run_${index}`, strategyId: spec.id, slotMs: index, state: "due", swaps: [] });
    store.transaction(() => store.insertRun(run, facts.nowMs));
    transitions += 1;
    commit(commit(run, { kind: "started" }), { kind: "view-read", view: viewSample() });
  }
  const passedMs = performance.now() - beganMs;
  db.close();
  rmSync(folder, { recursive: true, force: true });
  return Math.round(transitions / (passedMs / 1_000));
}

interface World {
  readonly path: string;
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

/** Chain and service in a process of their own. */
async function startWorld(): Promise<World> {
  const folder = makeFolder();
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--no-market", "--port", "0"]);
  const world = JSON.parse(await sandbox.firstLine) as {
    rpcUrl: string;
    serviceUrl: string;
    apiKey: string;
    wallet: { privateKey: string };
  };
  return {
    path: folder.path,
    env: {
      SWAPD_SANDBOX_RPC: world.rpcUrl,
      SWAPD_SANDBOX_API_KEY: world.apiKey,
      SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey,
      SWAPD_SERVICE_URL: world.serviceUrl,
    },
    async stop() {
      sandbox.process.kill("SIGTERM");
      await sandbox.ended;
      folder.remove();
    },
  };
}

/** The sandbox's configuration with the bench's database, and strategies of its own. @returns its file */
function configure(world: World, name: string, strategies?: string): string {
  const config = readFileSync(join(world.path, "config", "sandbox.yaml"), "utf8")
    .replace("url: embedded", `url: "${world.env.SWAPD_SERVICE_URL}"`)
    .replace(/^serve:[\s\S]*?(?=^timing:)/m, "")
    .replace(/^database:.*$/m, "database: ../bench.db\nidentity: ../identity")
    .replace("127.0.0.1:9464", "127.0.0.1:0")
    .replace(/^strategies:.*$/m, strategies === undefined ? "$&" : `strategies: ../${name}/strategies`);
  mkdirSync(join(world.path, name, "strategies"), { recursive: true });
  if (strategies !== undefined) writeFileSync(join(world.path, name, "strategies", "one.yaml"), strategies);
  const file = join(world.path, "config", `${name}.yaml`);
  writeFileSync(file, config);
  return file;
}

async function isHealthy(daemon: Started): Promise<boolean> {
  const url = /"statusUrl":"([^"]+)"/.exec(daemon.output())?.[1];
  return url !== undefined && (await fetch(`${url}/healthz`)).ok;
}

/** Starts a daemon on a configuration. @returns it with the milliseconds until its first healthy answer */
async function startDaemon(world: World, config: string): Promise<{ daemon: Started; healthMs: number }> {
  const beganMs = performance.now();
  const daemon = start(world.path, ["start", "--config", config], world.env);
  await until("a healthy answer", { process: daemon, withinMs: 30_000 }, () => isHealthy(daemon));
  return { daemon, healthMs: performance.now() - beganMs };
}

async function stop(daemon: Started): Promise<void> {
  daemon.process.kill("SIGTERM");
  await daemon.ended;
}

/** From the start of the process to its first healthy answer, in milliseconds; the median of several starts. */
async function measureStart(world: World): Promise<number> {
  const config = configure(world, "starts");
  const times: number[] = [];
  for (let count = 0; count < STARTS; count += 1) {
    const { daemon, healthMs } = await startDaemon(world, config);
    times.push(healthMs);
    await stop(daemon);
  }
  return Math.round(times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN);
}

/** Milliseconds of processor time that a process has used so far. */
function cpuMs({ process: { pid } }: Started): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND) * 1_000;
}

interface SwapFigures {
  readonly way: string;
  readonly swaps: number;
  readonly transitions: number;
  readonly ownTimeMs: number;
}

/** Lets one strategy trade for a while, and one that never trades for as long before it. */
async function measureSwaps(world: World, way: string, gasless: "never" | "only"): Promise<SwapFigures> {
  const database = join(world.path, "bench.db");
  const spend = async (name: string, strategy: string): Promise<number> => {
    const { daemon } = await startDaemon(world, configure(world, name, strategy));
    // What a start needs, and code that is not yet compiled, is no part of a swap.
    await sleep(WARM_UP_MS);
    const [before, swaps] = [cpuMs(daemon), count(database).swaps];
    await sleep(SECONDS * 1_000);
    const spent = cpuMs(daemon) - before;
    const after = count(database);
    await stop(daemon);
    traded.push({ ...after, swaps: after.swaps - swaps });
    return spent;
  };
  const traded: { swaps: number; perSwap: number }[] = [];
  const still = `kind: threshold\nwallet: main\nsell: "0.1 WETH"\nbuy: USDC\nwhen: { crosses_above: "900000 USDC" }\nschedule: { every: ${EVERY} }\n`;
  const trading = `kind: dca\nwallet: main\nsell: "500 USDC"\nbuy: WETH\nschedule: { every: ${EVERY} }\nexecution: { gasless: ${gasless} }\n`;
  const idleMs = await spend(`idle-${gasless}`, still);
  const tradingMs = await spend(`trading-${gasless}`, trading);
  const { swaps = 0, perSwap = 0 } = traded.at(-1) ?? {};
  return { way, swaps, transitions: perSwap, ownTimeMs: Math.round(((tradingMs - idleMs) / swaps) * 10) / 10 };
}

const WARM_UP_MS = 15_000;
const EVERY = "2s";

/** Swaps that ended with a fill, and how many rows of transitions one has with its run. */
function count(file: string): { swaps: number; perSwap: number } {
  const db = new Database(file, { readonly: true });
  const one = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
  const swaps = one(`SELECT count(*) FROM swaps WHERE state IN ${ENDED}`);
  const filled = `SELECT id FROM swaps WHERE state = 'final' UNION SELECT run_id FROM swaps WHERE state = 'final'`;
  const transitions = one(`SELECT count(*) FROM transitions WHERE subject_id IN (${filled})`);
  const finals = one("SELECT count(*) FROM swaps WHERE state = 'final'");
  db.close();
  return { swaps, perSwap: Math.round((transitions / finals) * 10) / 10 };
}

const world = await startWorld();
// The sandbox traded once while it was built: its wallet is no new one.
await run(world.path, ["db", "accept", "--config", configure(world, "starts")], world.env);
const row = { transitionsPerSecond: measureStore(), healthMs: await measureStart(world) };
const swaps = [
  await measureSwaps(world, "self-executed, with an approval", "never"),
  await measureSwaps(world, "gasless", "only"),
];
await world.stop();
console.table([row]);
console.table(swaps);
console.log(JSON.stringify({ bench: "daemon-own-time", gates: GATES, row, swaps }));
const holds =
  row.transitionsPerSecond >= GATES.transitionsPerSecond &&
  row.healthMs < GATES.healthMs &&
  swaps.every(({ ownTimeMs }) => ownTimeMs < GATES.ownTimeMs);
process.exit(holds ? 0 : 1);
