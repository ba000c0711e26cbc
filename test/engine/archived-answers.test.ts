import { expect, test } from "vitest";
import { createHistoryReader, type HistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { everyAnswer } from "../support/answers.ts";
import { policySample, RELAYER, WETH } from "../support/builders.ts";
import { COURSES, type Course } from "../support/courses.ts";
import { ACCOUNT, type Life, type Outside, turn } from "../support/engine-life.ts";
import { letAllGo, live, reportedOfRuns } from "../support/old-runs.ts";
import { keptTotals, recount } from "../support/recount.ts";

type OldCourse = Pick<Course, "name" | "gasless" | "begin"> & { readonly recipient?: typeof RELAYER };

/** The first swap of a world, while it is in a state. */
function firstSwap({ db }: Life, state: string): string | undefined {
  return db
    .prepare<[string], string>("SELECT hash FROM swaps WHERE state = ? ORDER BY rowid LIMIT 1")
    .pluck()
    .get(state);
}

/** Changes what all nodes show of the first swap's transaction, from its confirmation on. */
function onceConfirmed(outside: Outside, change: { readonly succeeded: boolean; readonly logs: readonly never[] }) {
  let hash: string | undefined;
  const { receipt } = outside.chain;
  outside.chain.receipt = async (asked) => {
    const found = await receipt.call(outside.chain, asked);
    return found !== undefined && found.hash === hash ? { ...found, ...change } : found;
  };
  return (_label: string, life: Life): void => {
    hash ??= firstSwap(life, "confirmed");
  };
}

/** What the courses of the kill tests do not bring about. */
const FURTHER: readonly OldCourse[] = [
  {
    name: "counted, and taken back by its final block",
    gasless: "never",
    begin: (outside) => onceConfirmed(outside, { succeeded: false, logs: [] }),
  },
  { name: "delivered to another wallet", gasless: "never", recipient: RELAYER, begin: () => () => undefined },
  {
    name: "submitted and delivered to another wallet",
    gasless: "only",
    recipient: RELAYER,
    begin: (outside) => {
      outside.chain.permitTokens.add(WETH.address);
      return () => undefined;
    },
  },
];

test.each<OldCourse>([...COURSES, ...FURTHER])(
  "whatever the daemon asks is answered as before once the runs are archived of which one was $name",
  async ({ name, gasless, begin, recipient = ACCOUNT }) => {
    const settings = { policy: policySample({ recipients: [ACCOUNT, RELAYER] }) };
    const { life, outside } = await live({ gasless, recipient }, begin, { settings });
    const [reported, totals] = [reportedOfRuns(life.db), keptTotals(life.db)];
    const ask = everyAnswer(life);
    const before = ask(life);
    const { archived } = letAllGo(life.store);
    expect(archived).toBeGreaterThan(0);
    expect(life.db.prepare("SELECT archive FROM runs ORDER BY slot_ms LIMIT 1").pluck().get()).toBe(1);
    expect(ask(life)).toEqual(before);
    const ids = Object.keys(reportedOfRuns(life.db));
    expect(reportedOfRuns(life.db)).toEqual(Object.fromEntries(ids.map((id) => [id, reported[id]])));
    expect([keptTotals(life.db), recount(life.db)]).toEqual([totals, totals]);
    if (name.startsWith("counted")) expect(outside.reported.map(({ code }) => code)).toContain("FILL_TAKEN_BACK");
    await turn(outside, life, 70);
    expect(life.errors).toEqual([]);
  },
);

test.each<[string, (reader: HistoryReader, id: string) => unknown]>([
  ["itself and its swaps", (reader, id) => reader.run(id)],
  ["its moves", (reader, id) => reader.transitions([id, `${id}.0.1`])],
  ["its checks", (reader, id) => reader.checks(`${id}.0.1`)],
])("what is read of a run in the moment in which it is archived is whole: %s", async (_what, read) => {
  const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
  const [id = ""] = life.db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().all();
  const before = read(createHistoryReader(life.db), id);
  const reading = openDatabase({ file: life.file, readonly: true });
  const prepare = reading.prepare.bind(reading);
  let archived = 0;
  // Right before any of the rows are asked for that go.
  reading.prepare = ((sql: string) => {
    if (/FROM (?:swaps WHERE run_id|transitions|checks)/.test(sql)) archived += letAllGo(life.store).archived;
    return prepare(sql);
  }) as typeof reading.prepare;
  expect(read(createHistoryReader(reading), id)).toEqual(before);
  reading.close();
  expect(archived).toBeGreaterThan(0);
});

test.each(["approve", "skip"])("%s of an archived run is answered with how it ended", async (command) => {
  const { life, outside } = await live({ gasless: "never" }, undefined, { seconds: 200 });
  const [run = ""] = life.db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().all();
  expect(letAllGo(life.store).archived).toBeGreaterThan(0);
  const madeAtMs = outside.clock.nowMs();
  const id = life.store.addRequest({ command, arguments: { run }, madeBy: "ada", madeAtMs });
  await turn(outside, life, 3);
  expect(life.store.answerOf(id)).toMatch(new RegExp(`^refused: ${run} has ended: filled`));
});
