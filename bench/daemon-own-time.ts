import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "../src/adapters/sqlite/daemon/store.ts";
import { migrateLane } from "../src/adapters/sqlite/lane-store.ts";
import { migrateDaemonDatabase } from "../src/app/daemon-database.ts";
import type { RunEvent } from "../src/domain/run/events.ts";
import type { Run } from "../src/domain/run/run.ts";
import { step } from "../src/domain/run/step.ts";
import { initialStrategyMemory } from "../src/domain/strategy/strategy.ts";
import { openDatabase } from "../src/storage/database.ts";
import { makeFolder, type Started, start, until } from "../test/e2e/support/swapd.ts";
import { dcaSpec, factsSample, runSample, viewSample } from "../test/support/builders.ts";

/**
 * What the daemon itself adds: how many durable transitions its store takes in a second, each commit for itself on this
 * machine's disk; the time of all commits of one swap; and how long a start takes until the first healthy answer. Ends
 * with 1 when a gate is missed. Run it alone.
 */
const GATES = { transitionsPerSecond: 1_000, ownTimeMs: 10, healthMs: 1_000 };
const RUNS = 1_500;
/** From its slot to its finalised block a self-executed swap with an approval takes so many commits. */
const COMMITS_OF_A_SWAP = 14;
const STARTS = 5;

interface StoreFigures {
  readonly transitionsPerSecond: number;
  readonly ownTimeMs: number;
}

/** Takes runs through their first steps, as the engine commits them: states, memory, reservations and effects together. */
function measureStore(): StoreFigures {
  const folder = mkdtempSync(join(tmpdir(), "swapd-bench-store-"));
  const db = openDatabase({ file: join(folder, "swapd.db") });
  migrateDaemonDatabase(db);
  migrateLane(db);
  const store = createStore(db);
  const facts = factsSample();
  const spec = dcaSpec();
  const memory = JSON.stringify(initialStrategyMemory(spec));
  store.saveStrategy({ id: spec.id, kind: spec.kind, specHash: "bench", spec, memory, lastSlotMs: 0 }, facts.nowMs);
  let transitions = 0;
  let commits = 0;
  const commit = (run: Run, event: RunEvent): Run => {
    const result = step(run, event, facts);
    store.transaction(() => {
      store.saveRun(result.run, result.transitions, facts.nowMs);
      for (const record of result.records) store.writeRecord(result.run, record, facts.nowMs);
      store.addEffects(run.id, result.effects, facts.nowMs);
    });
    transitions += result.transitions.length;
    commits += 1;
    return result.run;
  };
  const beganMs = performance.now();
  for (let index = 0; index < RUNS; index += 1) {
    const run = runSample({ id: `run_${index}`, strategyId: spec.id, slotMs: index, state: "due", swaps: [] });
    store.transaction(() => store.insertRun(run, facts.nowMs));
    transitions += 1;
    commits += 1;
    commit(commit(run, { kind: "started" }), { kind: "view-read", view: viewSample() });
  }
  const passedMs = performance.now() - beganMs;
  db.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    transitionsPerSecond: Math.round(transitions / (passedMs / 1_000)),
    ownTimeMs: Math.round((passedMs / commits) * COMMITS_OF_A_SWAP * 100) / 100,
  };
}

async function isHealthy(daemon: Started): Promise<boolean> {
  const url = /"statusUrl":"([^"]+)"/.exec(daemon.output())?.[1];
  return url !== undefined && (await fetch(`${url}/healthz`)).ok;
}

/** From the start of the process to its first healthy answer, in milliseconds; the median of several starts. */
async function measureStart(): Promise<number> {
  const folder = makeFolder();
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--no-market", "--port", "0"]);
  const world = JSON.parse(await sandbox.firstLine) as {
    rpcUrl: string;
    serviceUrl: string;
    apiKey: string;
    wallet: { privateKey: string };
  };
  const config = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8")
    .replace("url: embedded", `url: "${world.serviceUrl}"`)
    .replace(/^serve:[\s\S]*?(?=^timing:)/m, "")
    .replace(/^database:.*$/m, "database: ../bench.db")
    .replace("127.0.0.1:9464", "127.0.0.1:0");
  writeFileSync(join(folder.path, "config", "bench.yaml"), config);
  const env = {
    SWAPD_SANDBOX_RPC: world.rpcUrl,
    SWAPD_SANDBOX_API_KEY: world.apiKey,
    SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey,
  };
  const times: number[] = [];
  for (let count = 0; count < STARTS; count += 1) {
    const beganMs = performance.now();
    const daemon = start(folder.path, ["start", "--config", "config/bench.yaml"], env);
    await until("a healthy answer", { process: daemon, withinMs: 30_000 }, () => isHealthy(daemon));
    times.push(performance.now() - beganMs);
    daemon.process.kill("SIGTERM");
    await daemon.ended;
  }
  sandbox.process.kill("SIGTERM");
  await sandbox.ended;
  folder.remove();
  return Math.round(times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN);
}

const row = { ...measureStore(), healthMs: await measureStart() };
console.table([row]);
console.log(JSON.stringify({ bench: "daemon-own-time", gates: GATES, row }));
const holds =
  row.transitionsPerSecond >= GATES.transitionsPerSecond &&
  row.ownTimeMs < GATES.ownTimeMs &&
  row.healthMs < GATES.healthMs;
process.exit(holds ? 0 : 1);
