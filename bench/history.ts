import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDaemon } from "../src/adapters/sqlite/daemon/schema.ts";
import type { DaemonStore } from "../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../src/adapters/sqlite/daemon/store.ts";
import { migrateLane } from "../src/adapters/sqlite/lanes.ts";
import { CEILING_WINDOWS_MS } from "../src/domain/guard/policy.ts";
import type { Address } from "../src/domain/money/address.ts";
import type { Run } from "../src/domain/run/run.ts";
import { step } from "../src/domain/run/step.ts";
import { initialStrategyMemory } from "../src/domain/strategy/strategy.ts";
import { openDatabase, type SqliteDatabase } from "../src/storage/database.ts";
import { startChain } from "../test/audit/support/chain.ts";
import { createJournal } from "../test/audit/support/journal.ts";
import { createTrader } from "../test/audit/support/trader.ts";
import { optionsFor, writeBaselines } from "../test/audit/support/world.ts";
import { dcaSpec, evidenceSample, USDC, viewSample, WALLET, WETH } from "../test/support/builders.ts";
import { timeCommands } from "./history/commands.ts";
import { dueRun, endDecision, fillHistory, makeWhole } from "./history/fill.ts";

/**
 * What a long history costs: runs are filled in by bulk, the newest swaps are real transactions on a chain. Measured are
 * what the store adds to a decision, alternating with an empty database and by processor time; `status`, `history`, `why`
 * and `plan` as they are typed, in turn with the same on a small database; and `audit --since` of exactly the real swaps,
 * as a process of its own. `--runs N` and `--real N` make it small. Ends with 1 when a gate is missed.
 */
const RUNS = argument("--runs", 300_000);
const REAL = argument("--real", Math.min(1_000, Math.max(5, Math.floor(RUNS / 300))));
/**
 * Of the commands only what the history adds has a bound: the rest, loading modules and configuration and for `plan` a
 * service of its own, is the same whatever the database holds. The whole time is shown alongside it.
 */
const GATES = {
  ...{ fillMs: 300_000, decisionRatio: 1.2, auditMs: 5_000, residentMb: 200 },
  addedMs: { status: 500, history: 500, why: 500, plan: 2_000 },
};
/** As many as `history` shows, and some: the same lines are printed of both. */
const SMALL_RUNS = 1_200;
const DECISIONS = 400;
/** As bin/swapd.js sets them. */
const AUDIT_FLAGS = ["--semi-space-growth-factor=1", "--max-semi-space-size=2"];
const BLOCK = 20;

function argument(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

const folder = mkdtempSync(join(tmpdir(), "swapd-bench-history-"));
const file = join(folder, "filled.db");

/** Real swaps with the rows of a careful daemon, each for itself. @returns where an audit of them begins */
async function swapForReal(chain: Awaited<ReturnType<typeof startChain>>): Promise<number> {
  const journal = createJournal(file);
  await writeBaselines(chain, journal);
  const begin = Number(journal.get("SELECT max(block_number) FROM baselines")) + 1;
  // The trader goes on after the newest slot.
  const first = { id: "first", strategy: "dca", slot_ms: Date.now(), state: "due", spec_hash: "s", window_ends_ms: 1 };
  journal.insert("runs", { ...first, created_at_ms: 1 });
  const trader = createTrader(chain, journal);
  journal.run("DELETE FROM runs");
  const { USDC: usdc, WETH: weth } = chain.tokens;
  for (let index = 0; index < REAL; index += 1) {
    await trader.swapSelfExecuted({ id: `real_${index}`, sell: usdc, buy: weth, amount: 1_000_000n + BigInt(index) });
  }
  journal.close();
  return begin;
}

/** One decision as the engine commits it, with every question that its facts ask. @returns milliseconds of processor time */
function decide(store: DaemonStore, id: string, slotMs: number): number {
  const facts = evidenceSample();
  const began = process.cpuUsage();
  let run: Run = dueRun(id, slotMs, "bench");
  store.transaction(() => store.insertRun(run, facts.nowMs));
  for (const event of [{ kind: "started" } as const, { kind: "view-read", view: viewSample() } as const]) {
    store.transaction(() => {
      run = store.run(run.id) ?? run;
      askInLoop(store);
      if (event.kind === "view-read") askOnce(store, WALLET);
      const result = step(run, event, facts);
      store.saveRun(result.run, result.transitions, facts.nowMs);
      for (const record of result.records) store.writeRecord(result.run, record, facts.nowMs);
      store.addEffects(run.id, result.effects, facts.nowMs);
      run = result.run;
    });
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** What the engine's loop asks of the store around each step. */
function askInLoop(store: DaemonStore): void {
  store.hasOpenRun("s1");
  store.strategiesWithOpenRun();
  store.dueRuns(10);
  store.dueEffects(Date.now(), 10, "others");
  store.nextEffectMs();
}

/** What views and facts ask of the store, once for a swap. */
function askOnce(store: DaemonStore, wallet: Address): void {
  const nowMs = Date.now();
  store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.day, "none");
  store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.month, "none");
  store.failuresBetween("s1", { sinceMs: nowMs - 3_600_000, untilMs: nowMs }, []);
  for (const token of [USDC.address, WETH.address]) {
    store.isTokenBusy(wallet, token, "none");
    store.reserved(wallet, token);
    store.netOfSwaps(wallet, token);
    store.hasBought(wallet, token);
  }
  store.soldBy("s1");
  store.boughtBy("s1");
  store.hashOfOther(`0x${"ab".repeat(32)}`, { id: "none", wallet, token: USDC.address });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function withStrategy(db: SqliteDatabase): DaemonStore {
  const store = createStore(db);
  const spec = dcaSpec({ id: "bench" });
  const memory = JSON.stringify(initialStrategyMemory(spec));
  store.saveStrategy({ id: spec.id, kind: spec.kind, specHash: "bench", spec, memory, lastSlotMs: 0 }, 1);
  return store;
}

/** How much longer a decision takes than on an empty database: blocks of both alternate, the median of each counts. */
function compareDecisions(
  filled: SqliteDatabase,
  empty: SqliteDatabase,
): { decisionMs: number; emptyMs: number; decisionRatio: number } {
  const times = { filled: [] as number[], empty: [] as number[] };
  const sides = {
    filled: { db: filled, store: withStrategy(filled) },
    empty: { db: empty, store: withStrategy(empty) },
  };
  for (let index = 0; index < DECISIONS; index += 1) {
    const name = Math.floor(index / BLOCK) % 2 === 0 ? "filled" : "empty";
    const { db, store } = sides[name];
    times[name].push(decide(store, `bench_${index}`, Date.now() + index));
    endDecision(db, `bench_${index}`);
  }
  const [decisionMs, emptyMs] = [median(times.filled.slice(BLOCK)), median(times.empty.slice(BLOCK))];
  return { decisionMs, emptyMs, decisionRatio: Math.round((decisionMs / emptyMs) * 100) / 100 };
}

/** As the command is started: with its flags, and with modules that were compiled before. The second one counts. */
function auditAsCommand(script: string, audited: unknown): string {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(import.meta.dirname, "../node_modules/.cache/swapd") };
  const once = () =>
    execFileSync(process.execPath, [...AUDIT_FLAGS, script, JSON.stringify(audited)], {
      encoding: "utf8",
      env,
    });
  once();
  return once();
}

const chain = await startChain();
try {
  const began = performance.now();
  const begin = await swapForReal(chain);
  const realMs = Math.round(performance.now() - began);
  const fillBegan = performance.now();
  fillHistory(file, { runs: RUNS - REAL, untilMs: Date.now() - 3_600_000 });
  const fillMs = Math.round(performance.now() - fillBegan);
  const emptyDb = openDatabase({ file: join(folder, "empty.db") });
  migrateDaemon(emptyDb);
  migrateLane(emptyDb);
  const audited = { ...optionsFor(chain, file), since: { block: begin } };
  const script = new URL("./history/audit-main.ts", import.meta.url).pathname;
  const output = auditAsCommand(script, audited);
  const auditRow = JSON.parse(output) as { auditMs: number; residentMb: number; fills: number; differences: number };
  const small = join(folder, "small.db");
  createJournal(small).close();
  fillHistory(small, { runs: SMALL_RUNS, untilMs: Date.now() - 3_600_000 });
  for (const made of [file, small]) makeWhole(made, emptyDb);
  const commands = await timeCommands({ filled: file, small });
  const filledDb = openDatabase({ file });
  const decisions = compareDecisions(filledDb, emptyDb);
  filledDb.close();
  emptyDb.close();
  const sizeMb = Math.round(statSync(file).size / 1e6);
  const row = { runs: RUNS, real: REAL, sizeMb, realMs, fillMs, ...decisions, ...auditRow };
  console.table([row]);
  console.table(commands);
  console.log(JSON.stringify({ bench: "history", gates: GATES, row: { ...row, commands } }));
  const holds =
    fillMs < GATES.fillMs &&
    decisions.decisionRatio <= GATES.decisionRatio &&
    Object.entries(GATES.addedMs).every(([name, most]) => commands[name as keyof typeof commands].addedMs < most) &&
    auditRow.fills === REAL &&
    auditRow.differences === 0 &&
    auditRow.auditMs < GATES.auditMs &&
    auditRow.residentMb < GATES.residentMb;
  process.exitCode = holds ? 0 : 1;
} finally {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
}
