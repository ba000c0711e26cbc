import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAlertOutbox, setAlertChannels } from "../../src/adapters/sqlite/daemon/alert-outbox.ts";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { readStatus } from "../../src/app/commands/status-document.ts";
import { formatStanding, formatUnsent } from "../../src/app/commands/status-standing.ts";
import type { StandingSettings } from "../../src/app/read-standing.ts";
import { untakenLine } from "../../src/app/untaken-line.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { claimDatabase } from "../../src/storage/claim.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { makeFolder, run } from "../e2e/support/swapd.ts";
import { alertSample, dcaSpec, HUNDRED_USDC, NOW_MS, runSample, USDC, WALLET } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { swapIn } from "../support/reading-samples.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";

const spec = dcaSpec({ budget: { total: 5n * HUNDRED_USDC, untilMs: undefined, maxRuns: undefined } });
const settings = {
  mode: "live",
  network: { submit: { kind: "named", endpoints: [] } } as never,
  strategies: [{ spec, file: "weekly.yaml", hash: "h" }],
  tokens: new Map([["USDC", { token: USDC, feed: undefined, twap: undefined, peg: undefined }]]),
  wallets: new Map([["main", { name: "main", address: WALLET, delegate: undefined, key: {} as never }]]),
  policy: { maxPerDayUsd: 2_000n * 10n ** 18n } as never,
  service: { url: "embedded" } as never,
  serve: {} as never,
} as StandingSettings;

function begin() {
  const database = openDaemonDatabase(join(memoryDirectory(), "status.db"));
  addStrategy(database.store, spec);
  const text = async (): Promise<string> => formatStanding(await check()).join("\n");
  const check = () => readStatus(createReadModel(database.db), { database: database.file, settings });
  return { ...database, check, text };
}

test("a strategy that no file names now is not active: it is not in force", async () => {
  const { store, text } = begin();
  addStrategy(store, dcaSpec({ id: "gone" }));
  expect(await text()).toMatch(/^weekly +dca +active /m);
  expect(await text()).toMatch(/^gone +dca +not in force /m);
});

test("whether a daemon runs is reported by the claim on the database, and asking leaves the claim alone", async () => {
  const { file, check, text, store } = begin();
  store.saveIdentity({ network: "sandbox", chainId: 31_337, atMs: NOW_MS });
  store.noteAlive(NOW_MS);
  const lastAlive = new Date(NOW_MS).toISOString().replace(/\.\d+Z$/, "Z");
  expect((await check()).daemon).toEqual({ running: false, holder: null, lastAlive, ended: null });
  expect(await text()).toContain(`no daemon runs; it was last at work ${lastAlive}`);
  const claim = claimDatabase(file);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  expect((await check()).daemon).toMatchObject({ running: true, holder: `pid ${process.pid}` });
  expect(await text()).toContain(`the daemon runs (pid ${process.pid})`);
  expect(claimDatabase(file).kind).toBe("held");
  claim.release();
  expect((await check()).daemon.running).toBe(false);
  const again = claimDatabase(file);
  expect(again.kind).toBe("claimed");
  if (again.kind === "claimed") again.release();
});

test("where transactions go by the configuration is reported", async () => {
  const { text } = begin();
  expect(await text()).toContain("transactions are sent privately, to network.submit");
});

test("who signs elsewhere is reported, and since when it does not", async () => {
  const { db, file, store } = begin();
  const key = { kind: "remote", url: "https://vault:9000/", address: WALLET } as never;
  const wallets = new Map(["main", "spare"].map((name) => [name, { name, address: WALLET, delegate: undefined, key }]));
  const read = () => readStatus(createReadModel(db), { database: file, settings: { ...settings, wallets } });
  const all = { wallet: "main", host: "vault:9000", awaySince: null };
  expect((await read()).signers).toEqual([all, { ...all, wallet: "spare" }]);
  const text = "nothing is signed for main: the signer at vault:9000 does not answer";
  store.raiseAlert(alertSample({ code: "SIGNER_AWAY", subject: "signer of main", text }));
  const document = await read();
  const since = new Date(NOW_MS).toISOString().replace(/\.\d+Z$/, "Z");
  expect(document).toMatchObject({ signers: [{ awaySince: since }, { awaySince: null }], waitsFor: [{ text, since }] });
  const lines = formatStanding(document).join("\n");
  expect(lines).toContain(`main is signed for by vault:9000, which has been away since ${since}\n`);
  expect(lines).toContain("spare is signed for by vault:9000\n");
  const relaying = { ...settings, serve: { relayer: key } as never };
  const signersOf = async (of: StandingSettings) =>
    (await readStatus(createReadModel(db), { database: file, settings: of })).signers;
  expect(await signersOf(relaying)).toEqual([{ ...all, wallet: "the relayer" }]);
  const served = { ...relaying, service: { url: "https://served.example" } as never };
  expect(await signersOf(served), "of a service that is elsewhere").toEqual([]);
  const onPaper = { ...settings, wallets, mode: "paper" as const };
  expect((await readStatus(createReadModel(db), { database: file, settings: onPaper })).signers).toEqual([]);
});

test("a strategy that no slot came to yet has no last one", async () => {
  const { store, check, text } = begin();
  expect((await check()).strategies).toMatchObject([{ id: "weekly", lastSlot: null }]);
  expect(await text()).toMatch(/\nweekly +dca +active +\S+ +- /);
  addRun(store, runSample({ swaps: [swapIn("confirmed")] }));
  expect((await check()).strategies).toMatchObject([{ lastSlot: expect.any(String) }]);
});

test("each strategy tells its mode, its next slot, and what it used of its budget in the token's own unit", async () => {
  const { store, check, text } = begin();
  addRun(store, runSample({ swaps: [swapIn("confirmed")] }));
  store.setMode({ scope: "global", mode: "exits-only", setBy: "ops", reason: "r", atMs: NOW_MS });
  store.setMode({ scope: "weekly", mode: "paused", setBy: "ops", reason: "r", atMs: NOW_MS });
  const { strategies, operating, mode, sold } = await check();
  expect({ operating, mode }).toEqual({ operating: "exits-only", mode: "live" });
  expect(strategies[0]?.standing).toMatchObject({
    mode: "paused",
    sold: [{ token: "USDC", amount: "100" }],
    budget: { token: "USDC", amount: "500" },
  });
  expect(Date.parse(strategies[0]?.standing?.nextSlot ?? "")).toBeGreaterThan(Date.now() - 1_000);
  expect(sold).toMatchObject({ day: { limitUsd: "2000" }, month: { limitUsd: null } });
  expect(await text()).toContain("100 USDC of 500 USDC");
  expect(await text()).toContain("mode live; operating mode exits-only");
});

test("BUD-11 what is left of each bound of a budget is reported, with when it renews", async () => {
  const calendar = {
    timezone: "Europe/Berlin",
    limits: [
      { period: "week" as const, most: 2n * HUNDRED_USDC },
      { period: "month" as const, most: 4n * HUNDRED_USDC },
    ],
  };
  const bound = dcaSpec({ budget: { total: 5n * HUNDRED_USDC, calendar } });
  const { store, db, file } = begin();
  addRun(store, runSample({ swaps: [swapIn("submitted")] }));
  const strategies = [{ spec: bound, file: "weekly.yaml", hash: "h" }];
  const document = await readStatus(createReadModel(db), { database: file, settings: { ...settings, strategies } });
  const [total, week, month] = document.strategies[0]?.standing?.budgets ?? [];
  expect(total).toEqual({ period: "total", token: "USDC", limit: "500", sold: "100", left: "400", renews: null });
  expect(week).toMatchObject({ period: "week", token: "USDC", limit: "200", sold: "100", left: "100" });
  expect(month).toMatchObject({ period: "month", limit: "400", left: "300" });
  expect(Date.parse(week?.renews ?? "")).toBeGreaterThan(Date.now());
  const text = formatStanding(document).join("\n");
  expect(text).toMatch(/weekly +200 USDC a week +100 USDC +100 USDC +20/);
  expect(text).toMatch(/weekly +500 USDC in all +100 USDC +400 USDC +-/);
});

test("the mode is the running daemon's own, and a file that was edited since is reported alongside it", async () => {
  const { file, store, check, text } = begin();
  store.addDaemonEvent("started", "dry-run", NOW_MS);
  store.addDaemonEvent("clock-jump", "the wall clock went 2h ahead", NOW_MS);
  const claim = claimDatabase(file);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  expect(await check()).toMatchObject({ mode: "dry-run", configuredMode: "live" });
  expect(await text()).toContain(
    "mode dry-run (the configuration says live, which applies from the next start on); operating",
  );
  store.addDaemonEvent("started", "live", NOW_MS);
  expect(await check()).toMatchObject({ mode: "live", configuredMode: "live" });
  expect(await text()).toContain("mode live; operating");
  claim.release();
  store.addDaemonEvent("started", "dry-run", NOW_MS);
  expect(await check()).toMatchObject({ daemon: { running: false }, mode: "live" });
  const next = claimDatabase(file);
  if (next.kind !== "claimed") throw new Error("not claimed");
  store.addDaemonEvent("stopped", "by request", NOW_MS);
  expect(await check(), "a start that has written nothing yet is no earlier life").toMatchObject({ mode: "live" });
  next.release();
});

test("a slot that was skipped before an edit is not named as the next one", async () => {
  const { store, check } = begin();
  const next = async (): Promise<number> => Date.parse((await check()).strategies[0]?.standing?.nextSlot ?? "");
  const skippedMs = await next();
  const gap = { strategy: "weekly", firstSlotMs: skippedMs, lastSlotMs: skippedMs };
  store.addGap({ ...gap, count: 1, reason: "skipped_by_operator" }, 0, NOW_MS);
  for (const lastSlotMs of [skippedMs, NOW_MS]) store.setLastSlot("weekly", lastSlotMs);
  expect(await next()).toBeGreaterThan(skippedMs);
});

test("slots are those of the files that the running daemon goes by, where it has not taken over what they are now", async () => {
  const { db, file, store } = begin();
  addStrategy(store, dcaSpec({ id: "elder" }));
  db.exec("UPDATE strategies SET is_gone = 1 WHERE id = 'elder'");
  const without = { ...settings, strategies: [] };
  const read = async (about: StandingSettings | undefined = without) =>
    await readStatus(createReadModel(db), { database: file, settings: about });
  const slots = async (about?: StandingSettings) =>
    (await read(about)).strategies.map(({ id, standing }) => [id, standing?.nextSlot ?? null]);
  const nothing = [
    ["elder", null],
    ["weekly", null],
  ];
  const goesOn = [
    ["elder", null],
    ["weekly", expect.any(String)],
  ];
  store.raiseAlert(alertSample({ code: "RESTART_NEEDED", subject: "configuration", text: "edited" }));
  expect(await slots(), "the next start goes by the files").toEqual(nothing);
  expect(await read()).toMatchObject({ untaken: null });
  const claim = claimDatabase(file);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  onTestFinished(() => claim.release());
  expect(await slots()).toEqual(goesOn);
  const broken = await readStatus(createReadModel(db), { database: file, settings: undefined });
  expect(broken.strategies[1]?.standing?.nextSlot, "also where they are broken").toEqual(expect.any(String));
  const since = new Date(NOW_MS).toISOString().replace(/\.\d+Z$/, "Z");
  expect((await read()).untaken).toEqual({ code: "RESTART_NEEDED", since });
  expect(formatStanding(await read()).join("\n")).toContain(
    `the daemon goes by its files as they were before ${since} (RESTART_NEEDED), strategies too`,
  );
  const target = { kind: "configured", configuration: {} as never, database: file } as const;
  expect(await untakenLine(target)).toContain(
    `before ${since} (RESTART_NEEDED), strategies too: this is about the files`,
  );
  store.endAlerts("configuration", NOW_MS);
  expect(await untakenLine(target)).toBeUndefined();
  expect([await slots(), (await read()).untaken]).toEqual([nothing, null]);
});

test("balances are those that the rows know, at their block, and none are invented", async () => {
  const { store, check } = begin();
  expect((await check()).balances).toEqual([]);
  const other = toAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
  const baseline = { block: 7, transactionCount: 2 };
  const balances = new Map([[USDC.address, 1_500_000n] as const, [other, 3n] as const]);
  store.saveKnownChain({ wallet: WALLET, ...baseline, balances, baseline }, NOW_MS);
  expect((await check()).balances).toEqual(
    expect.arrayContaining([
      { wallet: "main", token: "USDC", amount: "1.5", block: 7 },
      { wallet: "main", token: `units of ${other}`, amount: "3", block: 7 },
    ]),
  );
});

test("what the daemon waits for is an open alert that names it, and the clock's last jump is reported in words", async () => {
  const { store, check, text } = begin();
  expect(await check()).toMatchObject({ waitsFor: [], lastClockJump: null, openAlerts: [] });
  store.raiseAlert(alertSample({ id: "a", code: "NODE_UNREACHABLE", subject: "node", text: "no node answers" }));
  store.raiseAlert(alertSample({ id: "b" }));
  store.addDaemonEvent("clock-jump", "the wall clock went 2h ahead", NOW_MS);
  store.addDaemonEvent("clock-jump", "the wall clock went 2h back", NOW_MS);
  store.addDaemonEvent("started", "live", NOW_MS);
  expect((await check()).waitsFor).toMatchObject([{ text: "no node answers" }]);
  expect((await check()).openAlerts.map(({ code }) => code)).toEqual(["NODE_UNREACHABLE", "SWAP_UNKNOWN"]);
  expect((await check()).lastClockJump?.text).toBe("the wall clock went 2h back");
  expect(await text()).toMatch(
    /waits since .*: no node answers\nlast jump of the clock, .*: the wall clock went 2h back/,
  );
  store.endAlerts("node", NOW_MS);
  expect((await check()).waitsFor).toEqual([]);
});

test("which channels are behind is reported, since when and with which answer, and what is unsent by which of them", async () => {
  const { db, store, check } = begin();
  expect([(await check()).channels, formatUnsent(await check())]).toEqual([[], []]);
  await setAlertChannels(db, [
    { name: "phone", severities: ["warning", "critical"], sendsEnds: true },
    { name: "webhook", severities: ["critical"], sendsEnds: false },
  ]);
  store.raiseAlert(alertSample({ id: "a" }));
  store.raiseAlert(alertSample({ id: "b", code: "RUN_PARKED", atMs: NOW_MS + 60_000 }));
  expect(formatUnsent(await check()).join("\n")).not.toContain("behind");
  const phone = createAlertOutbox(db, "phone");
  await phone.beginAttempt(1, 5_000);
  await phone.noteOutcome(1, "HTTP 503");
  store.endAlerts(alertSample().subject, NOW_MS);
  const since = new Date(NOW_MS).toISOString().replace(/\.\d+Z$/, "Z");
  expect((await check()).channels).toEqual([
    { name: "phone", isBehind: true, waiting: 4, since, outcome: "HTTP 503" },
    { name: "webhook", isBehind: false, waiting: 0, since: null, outcome: null },
  ]);
  const [behind, table] = formatUnsent(await check());
  expect(behind).toBe(`the channel phone is behind: 4 to send, the oldest of ${since}; last answer: HTTP 503`);
  expect(table).toMatch(/phone +RUN_PARKED is over +swap run_1\.0\.1 .* waiting +0 +-\n/);
  expect((await check()).unsentAlerts).toHaveLength(4);
});

test("the command answers from the rows alone, for people and for programs", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const { store, file } = openDaemonDatabase(join(folder.path, "swapd.db"));
  addStrategy(store, spec);
  const configuration = join(folder.path, "config/mine.yaml");
  const example = readDryExample(folder.path);
  writeFileSync(
    configuration,
    example.replace("main: {", `main: { address: "${WALLET}",`).replace("/data/swapd.db", file),
  );
  const env = { RPC_1: "http://127.0.0.1:1", RPC_2: "http://127.0.0.1:2" };
  const reported = await run(folder.path, ["status", "--config", configuration], env);
  expect(reported).toMatchObject({ code: 0, err: "", out: expect.stringContaining("no daemon runs\nmode dry-run") });
  const json = await runHere(folder.path, ["status", "--json", "--config", configuration], env);
  expect(JSON.parse(json.out)).toMatchObject({ daemon: { running: false }, mode: "dry-run", operating: "active" });
});
