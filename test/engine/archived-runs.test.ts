import { describe, expect, test } from "vitest";
import { createHistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { createStore } from "../../src/adapters/sqlite/daemon/store.ts";
import type { Address } from "../../src/domain/money/address.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { everyAnswer } from "../support/answers.ts";
import { rebalanceSpec, WETH } from "../support/builders.ts";
import { ACCOUNT, type Life, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { EVERY_MINUTE, letAllGo, live, reportedOfRuns } from "../support/old-runs.ts";
import { collectStatements, dropTriggers, growingParts } from "../support/query-plans.ts";
import { keptTotals, recount } from "../support/recount.ts";

function count({ db }: Life, table: string): number {
  return db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
}

describe("an archived run reports what it reported before", () => {
  test("of several swaps, with retries and runs that signed nothing between them", async () => {
    const owner = { recipient: ACCOUNT, wallet: { name: "main", address: ACCOUNT } };
    const spec = { ...rebalanceSpec({ schedule: EVERY_MINUTE }), ...owner, sell: undefined };
    const { outside, life } = await live(spec, (world) => {
      let asked = 0;
      return (label) => {
        if (label !== "effect.FetchQuote.before") return;
        asked += 1;
        world.service.refuses = asked % 3 === 0 ? refusal("BUSY", true) : undefined;
      };
    });
    for (let deposits = 0; deposits < 3; deposits += 1) {
      outside.chain.ledger.credit(WETH.address, ACCOUNT, 10n ** 18n);
      await turn(outside, life, 120);
    }
    const reported = reportedOfRuns(life.db);
    const { pruned, archived } = letAllGo(life.store);
    expect([pruned > 0, archived > 1, count(life, "gaps") > 0]).toEqual([true, true, true]);
    const after = reportedOfRuns(life.db);
    expect(after).toEqual(Object.fromEntries(Object.keys(after).map((id) => [id, reported[id]])));
    expect(recount(life.db)).toEqual(keptTotals(life.db));
  });
});

test("an archived run is one row alongside its own and its swaps', and small", async () => {
  const { life } = await live({ gasless: "only" }, ({ chain }) => {
    chain.permitTokens.add(WETH.address);
    return () => undefined;
  });
  const runs = count(life, "runs");
  expect(letAllGo(life.store)).toEqual({ pruned: 0, archived: runs - 1 });
  const left = ["steps", "transitions", "checks", "ledger", "capabilities", "signatures"].map((name) =>
    count(life, name),
  );
  const [rows] = [
    life.db.prepare<[string], number>("SELECT count(*) FROM transitions WHERE subject_id LIKE ? || '%'").pluck(),
  ];
  const [stays = ""] = life.db.prepare<[], string>("SELECT id FROM runs WHERE archive IS NULL").pluck().all();
  expect(left.slice(1)).toEqual([rows.get(stays), 1, 1, 1, 2]);
  const bytes = life.db
    .prepare<[], number>("SELECT max(length(body)) FROM archives WHERE base IS NOT NULL")
    .pluck()
    .get();
  expect(bytes).toBeLessThan(1_600);
});

test("what the daemon asks for is answered as before: nonces, hashes, rights, newest blocks, and the marker's counts", async () => {
  const { life, outside } = await live({ gasless: "never" });
  const ask = everyAnswer(life);
  const before = ask(life);
  expect(letAllGo(life.store).archived).toBeGreaterThan(3);
  expect(ask(life)).toEqual(before);
  const runs = count(life, "runs");
  await turn(outside, life, 120);
  expect([life.errors, count(life, "runs") - runs]).toEqual([[], 2]);
  expect(letAllGo(life.store).archived).toBe(2);
});

test("fills of archived runs are compared with their reference prices as before, but for one that nobody can read", async () => {
  const { life } = await live({ gasless: "never" });
  const { fills } = createReadModel(life.db);
  const before = await fills(99);
  expect(before.length).toBeGreaterThan(3);
  expect(letAllGo(life.store).archived).toBeGreaterThan(2);
  expect(await fills(99)).toEqual(before);
  dropTriggers(life.db);
  life.db.exec("UPDATE archives SET body = x'00' WHERE seq = (SELECT max(seq) FROM archives)");
  expect(await createReadModel(life.db).fills(99)).toHaveLength(before.length - 1);
});

test("the nonce of an archived order that was filled is known as before: its fill is no stranger's", async () => {
  const { life } = await live({ gasless: "only" }, ({ chain }) => {
    chain.permitTokens.add(WETH.address);
    return () => undefined;
  });
  expect(letAllGo(life.store).archived).toBeGreaterThan(1);
  const orders = life.db
    .prepare<[], { wallet: Address; nonce: string }>("SELECT wallet, nonce FROM swaps WHERE state = 'final'")
    .all();
  expect(orders.length).toBeGreaterThan(1);
  expect(orders.map(({ wallet, nonce }) => life.store.knowsNonce(wallet, BigInt(nonce)))).toEqual(
    orders.map(() => true),
  );
});

describe("a run that signed stays as it is", () => {
  const states = ({ db }: Life): unknown =>
    db.prepare("SELECT archive IS NOT NULL FROM runs ORDER BY slot_ms").pluck().all();

  const DEADLINES = {
    swaps: "UPDATE swaps SET deadline_seconds = @at",
    capabilities: "UPDATE capabilities SET until_seconds = @at",
    signatures: "UPDATE signatures SET valid_until_seconds = @at",
  } as const;

  test.each(["swaps", "capabilities", "signatures"] as const)(
    "while it is young, or a deadline of its %s is not past for as long",
    async (which) => {
      const { life } = await live({ gasless: "only" }, ({ chain }) => {
        chain.permitTokens.add(WETH.address);
        return () => undefined;
      });
      life.db.exec("DROP TRIGGER swaps_end");
      const [lastEnd = 0] = life.db.prepare<[], number>("SELECT max(ended_at_ms) FROM runs").pluck().all();
      const atSeconds = Math.ceil(lastEnd / 1_000) + 60;
      for (const [table, sql] of Object.entries(DEADLINES))
        life.db.prepare(sql).run({ at: table === which ? atSeconds : 1 });
      const archivedBefore = (beforeMs: number): number => letAllGo(life.store, { signedBeforeMs: beforeMs }).archived;
      const first = life.db.prepare<[], number>("SELECT min(ended_at_ms) FROM runs").pluck().get() ?? 0;
      expect([archivedBefore(first), archivedBefore(atSeconds * 1_000)]).toEqual([0, 0]);
      expect(archivedBefore((atSeconds + 1) * 1_000)).toBe(count(life, "runs") - 1);
    },
  );

  test.each([
    ["its slot is young", "UPDATE runs SET slot_ms = 4000000000000 + rowid"],
    ["its swaps were written lately", "UPDATE swaps SET updated_at_ms = 4000000000000"],
    ["its money was settled lately", "UPDATE ledger SET settled_at_ms = 4000000000000"],
  ])("while %s, whenever it ended", async (_what, sql) => {
    const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
    dropTriggers(life.db);
    life.db.exec(sql);
    expect(letAllGo(life.store, { signedBeforeMs: 4_000_000_000_000 })).toEqual({ pruned: 0, archived: 0 });
  });

  test("while money is reserved for it: the database refuses", async () => {
    const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
    life.db.exec("DROP TRIGGER ledger_state; UPDATE ledger SET state = 'reserved'");
    expect([letAllGo(life.store).archived, count(life, "archives")]).toEqual([0, 0]);
  });

  test("while it is confirmed and not final, and while a right of it is live", async () => {
    const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
    life.db.exec("UPDATE capabilities SET live = 1 WHERE rowid = 1");
    expect(letAllGo(life.store).archived).toBe(count(life, "runs") - 2);
    expect(states(life)).toEqual([0, 1, 1, 0]);
  });
});

test("nothing of an archived run changes, is added or goes: the database refuses it", async () => {
  const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
  letAllGo(life.store);
  const { db } = life;
  const refused = (sql: string) => expect(() => db.exec(sql), sql).toThrow(/never|stays|done/);
  const id = String(db.prepare("SELECT id FROM runs WHERE archive = 1").pluck().get());
  for (const sql of [
    ...["UPDATE archives SET body = x'00'", "DELETE FROM archives", "UPDATE runs SET detail = 'x' WHERE archive = 1"],
    ...["UPDATE runs SET archive = NULL WHERE archive = 1", `UPDATE swaps SET reason = 'x' WHERE run_id = '${id}'`],
    `INSERT INTO effects (run_id, kind, version, payload, not_before_ms, created_at_ms) VALUES ('${id}', 'x', 1, '{}', 1, 1)`,
    `INSERT INTO swaps SELECT '${id}.1.1', run_id, 1, attempt, 'planned', ${"reason, mode, wallet, recipient, sell_token, sell_symbol, sell_decimals, buy_token, buy_symbol, buy_decimals, amount_in, amount_out_min, quote_id, intent_id, nonce, deadline_seconds, hash, block_number, sold, bought, distributions, service_record, body, created_at_ms, updated_at_ms, block_time_seconds, swap_fee, affiliate_fee, price_evidence"} FROM swaps WHERE run_id = '${id}'`,
    "UPDATE runs SET archive = 1 WHERE archive IS NULL",
    "DELETE FROM lane_attempts",
  ])
    refused(sql);
  const leave = db.prepare("INSERT INTO lane_leaving (intent_id) VALUES (?)");
  const newest = db.prepare("SELECT id FROM lane_intents ORDER BY nonce DESC LIMIT 1").pluck().get();
  expect(() => leave.run(newest)).toThrow("the newest transaction of an account stays");
  expect(() => leave.run("none")).toThrow("not over stays");
  // What ended is known; its swaps are in the archive alone.
  expect(life.store.run(id)).toMatchObject({ id, state: "filled", swaps: [] });
});

test("a turn that fails in the middle of an archive leaves all rows where they were", async () => {
  const { life } = await live({ gasless: "never" }, undefined, { seconds: 200 });
  const before = reportedOfRuns(life.db);
  life.db.function("fails", () => {
    throw new Error("the disk is full");
  });
  for (const table of ["lane_intents", "swaps", "transitions", "steps", "runs"]) {
    const event = table === "swaps" || table === "runs" ? "UPDATE" : "DELETE";
    life.db.exec(`CREATE TRIGGER fails BEFORE ${event} ON ${table} BEGIN SELECT fails(); END`);
    expect(() => letAllGo(life.store), table).toThrow("the disk is full");
    life.db.exec("DROP TRIGGER fails");
    expect([count(life, "archives"), count(life, "leaving"), reportedOfRuns(life.db)]).toEqual([0, 0, before]);
  }
  expect(letAllGo(life.store).archived).toBe(3);
});

test("what was archived and taken back is no base of what is archived then under its number", async () => {
  const { life } = await live({ gasless: "never" });
  const before = reportedOfRuns(life.db);
  const killed = (): void => {
    life.store.transaction(() => {
      letAllGo(life.store);
      throw new Error("killed");
    });
  };
  expect(killed).toThrow("killed");
  // The first one stays for now: another run gets its number.
  life.db.exec("UPDATE capabilities SET live = 1 WHERE rowid = 1");
  expect(letAllGo(life.store).archived).toBeGreaterThan(1);
  const again = openDatabase({ file: life.file, readonly: true });
  expect(reportedOfRuns(again)).toEqual(before);
  again.close();
});

test("a base that somebody made unreadable keeps the next runs of its strategy where they are, and no others", async () => {
  const { outside, life } = await live({ gasless: "never" });
  letAllGo(life.store);
  life.db.exec("DROP TRIGGER archives_fixed; UPDATE archives SET body = x'ff00' WHERE base IS NULL");
  await turn(outside, life, 120);
  const place = { unsignedBeforeMs: 5e12, signedBeforeMs: 5e12, nowMs: 5e12, after: undefined, mayGoOn: () => true };
  const result = life.store.transaction(() => life.store.letGo(place));
  expect([result.archived, result.refused.length]).toEqual([0, 2]);
  expect(count(life, "leaving")).toBe(0);
});

test("the steps of an archived run are not reported, and no table is read to find what is old", async () => {
  const { life } = await live({ gasless: "never" });
  const statements = collectStatements(life.db);
  const fresh = createStore(life.db);
  letAllGo(fresh);
  const reader = createHistoryReader(life.db);
  const [id = ""] = life.db.prepare<[], string>("SELECT id FROM runs WHERE archive = 1").pluck().all();
  expect(reader.storedRun(id)).toBeUndefined();
  reader.transitions([id]);
  const growing = [...statements]
    .filter((sql) => !sql.includes("archive = 1"))
    .flatMap((sql) => growingParts(life.db, sql).map((part) => [sql, part]));
  expect(growing).toEqual([]);
});
