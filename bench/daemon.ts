import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { loadConfiguration } from "../src/app/load-configuration.ts";
import { makeFolder, type Started, start, until } from "../test/e2e/support/swapd.ts";

/**
 * A daemon with many strategies against a sandbox whose market stands still: how long they take to load, how late their
 * slots start (from the scheduled instant to the commit of the row `due`), what the process needs, and what a scrape of its metrics takes. Two loads: all due
 * in one second, and spread over the minutes of an hour. Ends with 1 when a gate is missed. Run it alone.
 */
const COUNT = Number(process.argv[2] ?? "10000");
const GATES = { loadMs: 2_000, residentMb: 300, idleCpu: 0.02, delayTogetherMs: 1_000, delaySpreadMs: 250 };
const SPREAD_MINUTES = 3;
const IDLE_SECONDS = 15;
const CLOCK_TICKS_PER_SECOND = 100;

interface World {
  readonly rpcUrl: string;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly wallet: { readonly privateKey: string };
}

interface Row {
  readonly load: string;
  readonly strategies: number;
  readonly loadMs: number;
  readonly healthMs: number;
  readonly residentMb: number;
  readonly idleCpu: number;
  readonly due: number;
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly metricsMs: number;
  readonly metricsKb: number;
}

const SCRAPES = 5;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A strategy that looks at prices and never trades, so that the chain is not what is measured. */
function strategyFile(cron: string): string {
  return `kind: threshold
wallet: main
sell: "0.1 WETH"
buy: USDC
when: { crosses_above: "900000 USDC" }
schedule: { cron: "${cron}" }
`;
}

function writeProject(from: string, cronOf: (index: number) => string, world: World): string {
  const path = mkdtempSync(join(tmpdir(), "swapd-bench-daemon-"));
  cpSync(join(from, "config"), join(path, "config"), { recursive: true });
  cpSync(join(from, ".swapd/sandbox/network.json"), join(path, "network.json"));
  mkdirSync(join(path, "many"));
  for (let index = 0; index < COUNT; index += 1) {
    writeFileSync(join(path, "many", `s${String(index).padStart(5, "0")}.yaml`), strategyFile(cronOf(index)));
  }
  const main = readFileSync(join(path, "config", "sandbox.yaml"), "utf8")
    .replace("url: embedded", `url: "${world.serviceUrl}"`)
    .replace(/^serve:[\s\S]*?(?=^timing:)/m, "")
    .replace(/^strategies:.*$/m, "strategies: ../many")
    .replace(/^database:.*$/m, "database: ../bench.db")
    .replace(/preset: [^ ,}]+/, "preset: ../network.json")
    .replace("127.0.0.1:9464", "127.0.0.1:0");
  writeFileSync(join(path, "config", "bench.yaml"), main);
  return path;
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

async function idleCpu(pid: number): Promise<number> {
  const before = cpuSeconds(pid);
  await sleep(IDLE_SECONDS * 1_000);
  return Math.round(((cpuSeconds(pid) - before) / IDLE_SECONDS) * 1_000) / 1_000;
}

function delaysOf(file: string): number[] {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare("SELECT created_at_ms - slot_ms AS delay FROM runs ORDER BY delay").all() as {
    delay: number;
  }[];
  db.close();
  return rows.map((row) => row.delay);
}

/** What a Prometheus waits for, once each strategy has had its slot: the median of some answers. */
async function scrape(daemon: Started): Promise<Pick<Row, "metricsMs" | "metricsKb">> {
  const url = /"statusUrl":"([^"]+)"/.exec(daemon.output())?.[1];
  const tookMs: number[] = [];
  let text = "";
  for (let count = 0; count < SCRAPES; count += 1) {
    const beganMs = performance.now();
    text = await (await fetch(new URL("/metrics", url))).text();
    tookMs.push(Math.round(performance.now() - beganMs));
  }
  return { metricsMs: quantile(tookMs.sort(byNumber), 0.5), metricsKb: Math.round(text.length / 1_024) };
}

const byNumber = (one: number, other: number): number => one - other;

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function measure(
  load: string,
  folder: string,
  world: World,
  plan: { cronOf: (index: number) => string; watch: (daemon: Started, database: string) => Promise<void> },
): Promise<Row> {
  const path = writeProject(folder, plan.cronOf, world);
  const env = {
    SWAPD_SANDBOX_RPC: world.rpcUrl,
    SWAPD_SANDBOX_WALLET_KEY: world.wallet.privateKey,
    SWAPD_SANDBOX_API_KEY: world.apiKey,
  };
  const file = join(path, "config", "bench.yaml");
  const beforeMs = performance.now();
  const loaded = loadConfiguration(file, { ...process.env, ...env });
  const loadMs = Math.round(performance.now() - beforeMs);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems.slice(0, 3)));
  const startedMs = performance.now();
  const daemon = start(path, ["start", "--config", file], env);
  await until("the daemon is up", { process: daemon, withinMs: 60_000 }, () => daemon.output().includes("statusUrl"));
  const healthMs = Math.round(performance.now() - startedMs);
  const { pid } = daemon.process;
  if (pid === undefined) throw new Error("the daemon has no process");
  const cpu = await idleCpu(pid);
  await plan.watch(daemon, join(path, "bench.db"));
  const scraped = await scrape(daemon);
  const resident = residentMb(pid);
  daemon.process.kill("SIGTERM");
  await daemon.ended;
  const delays = delaysOf(join(path, "bench.db"));
  rmSync(path, { recursive: true, force: true });
  return {
    load,
    strategies: COUNT,
    loadMs,
    healthMs,
    residentMb: resident,
    idleCpu: cpu,
    due: delays.length,
    delayP50Ms: quantile(delays, 0.5),
    delayP99Ms: quantile(delays, 0.99),
    ...scraped,
  };
}

/** The cron pattern of one minute that lies far enough ahead for the daemon to be up and measured idle before it. */
function minuteAhead(): string {
  const at = new Date(Date.now() + (IDLE_SECONDS + 75) * 1_000);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

const folder = makeFolder();
const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--no-market", "--port", "0"]);
const world = JSON.parse(await sandbox.firstLine) as World;
const together = minuteAhead();
const rows = [
  await measure("all in one second", folder.path, world, {
    cronOf: () => together,
    watch: async (daemon, database) => {
      await until(
        "every slot has its run",
        { process: daemon, withinMs: 180_000 },
        () => delaysOf(database).length === COUNT,
      );
    },
  }),
  await measure("spread over an hour", folder.path, world, {
    cronOf: (index) => `${index % 60} * * * *`,
    watch: async () => await sleep(SPREAD_MINUTES * 60_000),
  }),
];
sandbox.process.kill("SIGTERM");
await sandbox.ended;
folder.remove();
console.table(rows);
console.log(JSON.stringify({ bench: "daemon", gates: GATES, rows }));
const holds = rows.every(
  (row, index) =>
    row.loadMs < GATES.loadMs &&
    row.residentMb < GATES.residentMb &&
    row.idleCpu < GATES.idleCpu &&
    row.due > 0 &&
    row.delayP99Ms < (index === 0 ? GATES.delayTogetherMs : GATES.delaySpreadMs),
);
process.exit(holds ? 0 : 1);
