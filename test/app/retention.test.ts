import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { atLeastOne } from "../../src/app/cli-options.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { runSample, SLOT_MS } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { letAllGo, live } from "../support/old-runs.ts";
import { dropTriggers } from "../support/query-plans.ts";

let file: string;
let database: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  const example = readDryExample(folder.path);
  const own = `main: { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",`;
  writeFileSync(file, example.replace("main: {", own).replace("/data/swapd.db", database));
});

async function swapd(...words: string[]): Promise<string> {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  await runCli(["node", "swapd", ...words, "--config", file], { out: say, err: say, isInteractive: false });
  return said.join("\n");
}

it("why a slot did not trade is reported when its run has become a gap, also behind thousands of others", async () => {
  const { store } = openDaemonDatabase(database);
  addStrategy(store);
  const at = (minute: number): number => SLOT_MS + minute * 60_000;
  for (const [minute, reason] of [
    [0, "not_due"],
    [1, "not_due"],
    [2, "price_stale"],
  ] as const)
    addRun(store, runSample({ id: `run_${minute}`, slotMs: at(minute), state: "skipped", reason }));
  letAllGo(store);
  store.transaction(() => {
    for (let minute = 3; minute < 1_503; minute += 1)
      store.addGap(
        { strategy: "weekly", firstSlotMs: at(minute), lastSlotMs: at(minute), count: 1, reason: `r${minute}` },
        0,
        1,
      );
  });
  const whyAt = (minute: number): Promise<string> => swapd("why", "weekly", "--at", new Date(at(minute)).toISOString());
  expect(await whyAt(1)).toContain(
    "weekly: 2 runs from 2023-11-14T22:14:00Z to 2023-11-14T22:15:00Z ended skipped: not_due; nothing was signed, and no more is kept of it",
  );
  expect(await whyAt(2)).toContain(
    "weekly: the run of 2023-11-14T22:16:00Z ended skipped: price_stale; nothing was signed, and no more is kept of it",
  );
  expect(await whyAt(3)).toContain("weekly had no run: 1 slots from 2023-11-14T22:17:00Z");
  const status = JSON.parse(await swapd("status", "--json")) as { strategies: unknown; gaps: unknown[] };
  expect([status.strategies, status.gaps.length]).toMatchObject([[{ id: "weekly", runs: { skipped: 3 } }], 1_000]);
});

it("an archived run is told to the letter as it was, by its id, its swap's, its instant and in the history", async () => {
  const { life } = await live({ gasless: "never" });
  writeFileSync(file, readFileSync(file, "utf8").replace(database, life.file));
  const [first, second] = life.db
    .prepare<[], { id: string; slot: number }>("SELECT id, slot_ms AS slot FROM runs ORDER BY slot_ms")
    .all();
  const asked = [
    ["history"],
    ["history", "--json"],
    ["show", first?.id ?? ""],
    ["show", `${second?.id}.0.1`, "--json"],
    ["why", "weekly", "--at", new Date(first?.slot ?? 0).toISOString()],
    ["why", "weekly", "--json", "--at", new Date(second?.slot ?? 0).toISOString()],
    ["why", "weekly"],
  ];
  // What was not asked for is not told to be missing.
  expect(await swapd("history", "--limit", "1")).toContain("the newest 1 runs; there are older ones");
  expect(() => atLeastOne("0")).toThrow("give 1 or more");
  expect(await swapd("history", "--strategy", "weakly")).toContain('no strategy "weakly"; known are weekly');
  const report = () => Promise.all(asked.map((words) => swapd(...words)));
  const before = await report();
  expect(before[2]).toContain("confirmed -> final");
  expect(before[4]).toContain("filled");
  expect(await swapd("replay", first?.id ?? "")).toContain("stored moves and the run's state are the same");
  expect(letAllGo(life.store).archived).toBeGreaterThan(2);
  expect(await report()).toEqual(before);
  expect(await swapd("replay", first?.id ?? "")).toContain("are not stored any more: they are kept for `retention`");
  expect(await swapd("replay", "run_none")).toContain("no run has the id");
});

it("db check and a backup name the last link of the history, and db check says which one was changed", async () => {
  const { life } = await live({ gasless: "never" }, undefined, { seconds: 160 });
  writeFileSync(file, readFileSync(file, "utf8").replace(database, life.file));
  letAllGo(life.store);
  const { history } = JSON.parse(await swapd("db", "check", "--json")) as { history: { links: number; head: string } };
  expect(history).toEqual({ links: 2, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const copy = `${life.file}.copy`;
  expect(await swapd("backup", "--to", copy)).toContain(`history of 2 links up to ${history.head}`);
  expect(await swapd("db", "check")).toContain(`history of 2 links up to ${history.head}`);
  dropTriggers(life.db);
  life.db.exec("UPDATE swaps SET bought = '1' WHERE run_id = (SELECT id FROM runs WHERE archive = 2)");
  expect(await swapd("db", "check")).toContain("link 2 of the history does not hold: what is kept of run ");
});
