import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { ALERT_COMMANDS } from "../../src/app/doctor/alert-commands.ts";
import type { Diagnosis } from "../../src/app/doctor/diagnosis.ts";
import { examine } from "../../src/app/doctor/examine.ts";
import { thisMachine } from "../../src/app/machine.ts";
import { findTarget } from "../../src/app/target.ts";
import { claimDatabase } from "../../src/storage/claim.ts";
import { isThereCommand } from "../docs/support/commands.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { alertSample, NOW_MS, runSample, WALLET } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { swapIn } from "../support/reading-samples.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const BASE = 8453;
const DEAD = "http://127.0.0.1:1";
const HOUR_MS = 3_600_000;

let file: string;
let database: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, DEAD);
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  const example = readDryExample(folder.path);
  const own = `main: { address: "${WALLET}",`;
  const two = example.replace("[{ env: RPC_1 }]", "[{ env: RPC_1 }, { env: RPC_2 }]");
  expect(two).not.toBe(example);
  writeFileSync(file, two.replace("main: {", own).replace("/data/swapd.db", database));
});

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function swapd(...words: string[]): Promise<Answer> {
  const [out, err]: [string[], string[]] = [[], []];
  const into = (said: string[]) => (text: string) => void said.push(text);
  const terminal = { out: into(out), err: into(err), isInteractive: false };
  const code = await runCli(["node", "swapd", ...words, "--config", file], terminal);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

async function findings(): Promise<readonly (Diagnosis & { readonly mend: string | null })[]> {
  const { out } = await swapd("doctor", "--json");
  return (JSON.parse(out) as { findings: (Diagnosis & { mend: string | null })[] }).findings;
}

const ofPart = (all: readonly Diagnosis[], part: Diagnosis["part"]): readonly Diagnosis[] =>
  all.filter((one) => one.part === part);

/** A chain behind both endpoints of the configuration. */
async function twoEndpoints() {
  const anvil = await startBareAnvil({ chainId: BASE });
  const second = await startRpcProxy(anvil.url);
  await anvil.mine(3);
  vi.stubEnv("RPC_1", anvil.url);
  vi.stubEnv("RPC_2", second.url);
  return { anvil, second };
}

/** Everything in a folder but the test's own claim, and what SQLite keeps for readers. */
function printOf(folder: string): string {
  const parts: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    if (/-(?:wal|shm)$|\.lock\.db/.test(name)) continue;
    const isRead = /\.(?:db|yaml|json|pass)$/.test(name);
    const print = isRead
      ? createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex")
      : "";
    parts.push(`${name} ${print}`);
  }
  return parts.join("\n");
}

test("all is looked at, with and without a daemon, nothing is written, and the answer names what it looked at", async () => {
  await twoEndpoints();
  const { store, db } = openDaemonDatabase(database);
  store.saveIdentity({ network: "base", chainId: BASE, atMs: Date.now() - 10 * 24 * HOUR_MS });
  addStrategy(store);
  db.pragma("wal_checkpoint(TRUNCATE)");
  const before = printOf(dirname(database));
  const { out } = await swapd("doctor");
  expect(out.split("\n")[0]).toBe(
    `looked on ${file} (network base, mode dry-run, database ${database}); nothing was written, sent or signed`,
  );
  expect(out).toMatch(/^ok +clock +against 127\.0\.0\.1:\d+ +the same as its Date, within \d\.\d s$/m);
  expect(out).toMatch(/^ok +endpoints +endpoint 1 \(127\.0\.0\.1:\d+\) +answers within \d+ ms; block 3, \d+s old$/m);
  expect(out).toMatch(/^ok +agreement +2 call block \d+ final, by the same hash$/m);
  expect(out).toMatch(/^ok +database +file +\S+ is whole, page by page and row by row$/m);
  expect(out).toMatch(/^ok +disk .* free; about [\d.]+ (?:k|M)?B|bytes used a day/m);
  expect(out).toMatch(/^warning +daemon +daemon +none runs -> swapd start --config /m);
  const claim = claimDatabase(database);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  onTestFinished(() => claim.release());
  const running = await findings();
  expect(ofPart(running, "daemon")).toMatchObject([{ state: "ok", found: `runs (pid ${process.pid})` }]);
  expect(new Set(running.map(({ part }) => part)).size).toBe(13);
  expect(printOf(dirname(database))).toBe(before);
}, 60_000);

test("a dead endpoint beside a good one is a warning; all of them dead are an error, and no block dates the clock", async () => {
  await twoEndpoints();
  vi.stubEnv("RPC_1", DEAD);
  const one = ofPart(await findings(), "endpoints");
  expect(one[0]).toMatchObject({ what: "endpoint 1 (127.0.0.1:1)", state: "warning" });
  expect(one[1]).toMatchObject({ state: "ok" });
  vi.stubEnv("RPC_2", DEAD);
  const none = await findings();
  expect(ofPart(none, "endpoints").map(({ state }) => state)).toEqual(["error", "error"]);
  expect(ofPart(none, "clock").map(({ state }) => state)).toEqual(["not tried", "not tried"]);
  expect(await swapd("doctor")).toMatchObject({ code: 1 });
}, 60_000);

test("each secret that a start needs and that is not there, or cannot be what it is for, has a line, and all else is looked at", async () => {
  await twoEndpoints();
  vi.stubEnv("RPC_2", "");
  vi.stubEnv("BOT_TOKEN", "mistyped-bot-token");
  vi.stubEnv("PING_URL", "watch.example");
  const alerts = `alerts:
  heartbeat: { url: { env: PING_URL } }
  commands: { telegram: { token: { env: BOT_TOKEN }, chat: "-1001234567890", users: ["123456789"] } }
`;
  const served = "serve: { apiKeys: [{ env: SERVE_KEY }],";
  writeFileSync(file, `${readFileSync(file, "utf8").replace("serve: {", served)}${alerts}`);
  const all = await findings();
  const wrong = all.filter(({ state, part }) => state === "error" && ["endpoints", "keys", "channels"].includes(part));
  expect(wrong.map(({ part, what }) => [part, what])).toEqual([
    ["endpoints", "endpoint 2"],
    ["keys", "wallet main"],
    ["keys", "alerts.commands.telegram.token"],
    ["keys", "serve.apiKeys"],
    ["channels", "heartbeat"],
  ]);
  expect(wrong[0]).toMatchObject({ found: expect.stringContaining("RPC_2 is empty") });
  expect(JSON.stringify(all)).not.toMatch(/mistyped-bot|watch\.example/);
  expect(ofPart(all, "endpoints")[0]).toMatchObject({ state: "ok" });
  expect(new Set(all.map(({ part }) => part)).size).toBe(13);
}, 60_000);

test("an endpoint for private sending whose URL is not there takes nothing from what is known of the others", async () => {
  await twoEndpoints();
  const submit = "confirmations: 3, submit: [{ env: RELAY_URL }]";
  const example = readFileSync(file, "utf8");
  writeFileSync(file, example.replace("confirmations: 3", submit));
  expect(readFileSync(file, "utf8")).not.toBe(example);
  const seen = ofPart(await findings(), "endpoints");
  expect(seen.filter(({ what }) => what.startsWith("endpoint ")).map(({ state }) => state)).toEqual(["ok", "ok"]);
  expect(seen.find(({ what }) => what === "sending")).toMatchObject({
    state: "error",
    found: expect.stringContaining("RELAY_URL is not set"),
  });
}, 60_000);

test("an endpoint of another chain is named, and two that call different blocks final disagree", async () => {
  const { second, anvil } = await twoEndpoints();
  second.fault("eth_chainId", { kind: "answer", result: "0x1" });
  expect(ofPart(await findings(), "endpoints")[1]).toMatchObject({
    state: "warning",
    found: expect.stringContaining("serves chain 1, not 8453"),
  });
  second.clear();
  const block = (await anvil.rpc.call("eth_getBlockByNumber", ["0x1", false])) as object;
  const forged = { ...block, hash: `0x${"ab".repeat(32)}` };
  const isOld = (params: readonly unknown[]): boolean => params[0] === "0x1" || params[0] === "finalized";
  second.faultWhere({ method: "eth_getBlockByNumber", where: isOld }, { kind: "answer", result: forged });
  const agreement = ofPart(await findings(), "endpoints").find(({ what }) => what === "agreement");
  expect(agreement, JSON.stringify(agreement)).toMatchObject({ state: "error" });
}, 60_000);

test.each([
  [10_000, "warning"],
  [HOUR_MS, "error"],
  [-HOUR_MS, "error"],
])(
  "a clock that is %i ms off is told by the Date of others, and not blamed on the node",
  async (offMs, state) => {
    await twoEndpoints();
    const real = thisMachine();
    const machine = { ...real, clock: { ...real.clock, nowMs: () => real.clock.nowMs() + offMs } };
    const found = await examine(findTarget({ config: file }), machine);
    const [against] = ofPart(found, "clock");
    expect(against).toMatchObject({ state, mend: "timedatectl set-ntp true" });
    expect(ofPart(found, "endpoints").filter(({ what }) => what.startsWith("endpoint "))).toMatchObject([
      { state: "ok" },
      { state: "ok" },
    ]);
  },
  60_000,
);

test("a node that stands still is told from a clock that is ahead", async () => {
  const { second, anvil } = await twoEndpoints();
  const nowSeconds = Math.floor(Date.now() / 1_000);
  await anvil.rpc.call("evm_setNextBlockTimestamp", [nowSeconds + 3 * 3_600]);
  await anvil.mine();
  vi.stubEnv("RPC_1", second.url);
  const ahead = await findings();
  expect(ofPart(ahead, "clock").find(({ what }) => what === "against the chain")).toMatchObject({
    state: "error",
    found: expect.stringContaining("behind the time of block 4"),
  });
  const real = thisMachine();
  const clock = { ...real.clock, nowMs: () => real.clock.nowMs() + 6 * HOUR_MS };
  // Its own Date is of that time too: then it is the node that is behind.
  const fetch: typeof real.fetch = async (request) => {
    const answer = await real.fetch(request);
    const date = new Date(clock.nowMs()).toUTCString();
    return { ...answer, header: (name) => (name === "date" ? date : answer.header(name)) };
  };
  const stalled = await examine(findTarget({ config: file }), { ...real, clock, fetch });
  expect(ofPart(stalled, "clock").map(({ state }) => state)).toEqual(["ok", "ok"]);
  expect(ofPart(stalled, "endpoints")[0]).toMatchObject({ found: expect.stringContaining("stands still") });
}, 60_000);

test("what is signed, stuck, unknown, halted or reported has a line each, with a command that is there", async () => {
  const { store, db } = openDaemonDatabase(database);
  addStrategy(store);
  const swap = swapIn("unknown");
  addRun(store, runSample({ state: "executing", swaps: [swap] }));
  const right = "INSERT INTO capabilities VALUES (?, ?, ?, ?, 1, ?, ?, NULL)";
  db.prepare(right).run(swap.id, WALLET, swap.sell.address, `0x${"5".repeat(40)}`, Math.floor(NOW_MS / 1_000), NOW_MS);
  db.prepare("INSERT INTO lane_halts (account, chain_id, reason, transaction_count, at_ms) VALUES (?, ?, ?, 1, ?)").run(
    WALLET,
    BASE,
    "a nonce was used by a transaction that is not ours",
    NOW_MS,
  );
  store.setMode({ scope: "weekly", mode: "paused", setBy: "ops", reason: "holiday", atMs: NOW_MS });
  store.raiseAlert(alertSample({ severity: "critical", code: "NODE_UNREACHABLE" }));
  const all = await findings();
  expect(ofPart(all, "signed")).toMatchObject([
    { state: "warning", what: `swap ${swap.id}`, mend: `swapd show ${swap.id} --config ${file}` },
  ]);
  expect(ofPart(all, "lanes")).toMatchObject([
    { state: "error", what: `account ${WALLET}`, mend: `swapd resume --config ${file}` },
    { state: "error", what: "unknown swaps", mend: `swapd show ${swap.id} --config ${file}` },
  ]);
  expect(ofPart(all, "settings").find(({ mend }) => mend?.startsWith("swapd resume"))).toMatchObject({
    state: "warning",
    found: expect.stringContaining("weekly is paused"),
    mend: `swapd resume weekly --config ${file}`,
  });
  expect(ofPart(all, "alerts")).toMatchObject([
    { state: "error", what: "NODE_UNREACHABLE", found: expect.stringContaining("docs/RUNBOOKS.md#node_unreachable") },
  ]);
  const commands = all.flatMap(({ state, mend }) => (state === "ok" || mend === null ? [] : [mend]));
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands) expect(await isThereCommand(command), command).toBe(true);
}, 60_000);

test("a database that is damaged, readable by others, of another release or missing is told apart", async () => {
  const missing = ofPart(await findings(), "database");
  expect(missing[0]).toMatchObject({ state: "warning", found: expect.stringContaining("the daemon has not run yet") });
  const { db } = openDaemonDatabase(database);
  db.prepare("INSERT INTO schema_migrations VALUES ('daemon', 9999, 'of-later', '', 0)").run();
  chmodSync(database, 0o644);
  const newer = ofPart(await findings(), "database");
  expect(newer).toMatchObject([
    { state: "error", found: expect.stringContaining("a newer release made its tables") },
    { state: "error", mend: `chmod 600 ${database}` },
    { what: "size" },
  ]);
  db.prepare("DELETE FROM schema_migrations WHERE number = 9999").run();
  db.close();
  writeFileSync(database, Buffer.alloc(8_192, 7));
  expect(ofPart(await findings(), "database")[0]).toMatchObject({ state: "error" });
}, 60_000);

test("a marker that cannot be used is an error of the database, which is looked at all the same", async () => {
  const { store, db } = openDaemonDatabase(database);
  store.saveIdentity({ network: "base", chainId: BASE, atMs: Date.now() });
  db.close();
  const folder = join(dirname(file), "identity");
  mkdirSync(folder);
  writeFileSync(join(folder, `${BASE}-${WALLET}.json`), "{");
  const found = ofPart(await findings(), "database");
  expect(found).toMatchObject([
    { state: "error", found: expect.stringContaining("cannot be used"), mend: `swapd db check --config ${file}` },
    { what: "tables", state: "ok" },
    { what: "size", state: "ok" },
  ]);
  const { code, out } = await swapd("db", "check");
  expect(code).toBe(1);
  expect(out).toMatch(/cannot be used[\s\S]*LARGEST TABLES[\s\S]*CHECKED AGAINST THE CHAIN/);
  db.close();
  rmSync(database);
  expect(await swapd("db", "check")).toMatchObject({ code: 1, out: expect.stringContaining("cannot be used") });
}, 60_000);

test("a copy beside the database dates the newest backup, and an old one is a warning", async () => {
  writeFileSync(file, readFileSync(file, "utf8").replace("mode: dry-run", "mode: paper"));
  const { db } = openDaemonDatabase(`${database}.paper.db`);
  db.close();
  expect(await swapd("backup")).toMatchObject({ code: 0 });
  const backup = async () => ofPart(await findings(), "database").find(({ what }) => what === "backup");
  expect(await backup()).toMatchObject({ state: "ok", found: expect.stringMatching(/\d+s old$/) });
  const copy = readdirSync(dirname(database)).find((name) => name.includes(".backup-")) ?? "";
  const then = new Date(Date.now() - 8 * 24 * HOUR_MS);
  utimesSync(join(dirname(database), copy), then, then);
  expect(await backup()).toMatchObject({ state: "warning", found: expect.stringMatching(/8d old$/) });
}, 60_000);

test.each(Object.entries(ALERT_COMMANDS))("the first command for %s is there: %s", async (_, command) => {
  expect(await isThereCommand(command)).toBe(true);
});

test("names the configuration in what it advises, as a shell reads it", async () => {
  const spaced = join(dirname(dirname(file)), "its own config");
  cpSync(dirname(file), spaced, { recursive: true });
  file = join(spaced, "mine.yaml");
  expect(ofPart(await findings(), "database")).toMatchObject([{ mend: `swapd start --config '${file}'` }]);
});

test("of another mode than the file's it advises no second daemon beside the one that runs", async () => {
  const { db } = openDaemonDatabase(database);
  db.prepare("INSERT INTO daemon_events (kind, detail, at_ms) VALUES ('started', 'live', ?)").run(NOW_MS);
  const claim = claimDatabase(database);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  onTestFinished(() => claim.release());
  expect(ofPart(await findings(), "settings").find(({ what }) => what === "mode")).toMatchObject({
    state: "warning",
    found: expect.stringMatching(
      /runs live, and the file says dry-run, which applies once it was stopped and started$/,
    ),
    mend: `swapd status --config ${file}`,
  });
}, 60_000);
