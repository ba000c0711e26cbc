import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noteEndedStart } from "../../src/app/note-ended-start.ts";
import { runOnce } from "../../src/app/run-once.ts";
import { claimDatabase } from "../../src/storage/claim.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { makeExampleHome } from "../support/example-file.ts";

const terminal = { out: () => undefined, err: () => undefined, isInteractive: false };

/** An example that knows no settlement contract, and was never started. */
function begin() {
  const { folder, file, write } = makeExampleHome();
  write("dry-run");
  const edited = readFileSync(file, "utf8").replace("url: embedded", 'url: "http://127.0.0.1:1"');
  writeFileSync(file, edited);
  const start = () => runOnce(file, terminal, new Promise(() => undefined));
  const status = async (...options: string[]) => (await runHere(folder, ["status", "--config", file, ...options])).out;
  const database = join(folder, "swapd.db");
  const execute = (sql: string): void => {
    const db = openDatabase({ file: database });
    db.exec(sql);
    db.close();
  };
  const events = () => {
    const db = openDatabase({ file: database, readonly: true });
    const kinds = db.prepare<[], string>("SELECT kind FROM daemon_events ORDER BY id").pluck().all();
    db.close();
    return kinds;
  };
  return { start, status, database, execute, events };
}

test("why the last start ended stands in status while no daemon runs, in one row however often it is tried", async () => {
  const { start, status, database, execute, events } = begin();
  const { trouble } = await start();
  expect(trouble).toMatchObject({
    kind: "person",
    message: expect.stringContaining("the daemon cannot start: no settl"),
  });
  await start();
  expect(events()).toEqual(["ended"]);
  expect(await status()).toMatch(
    /^no daemon runs; the last start ended 20\S+Z: the daemon cannot start: no settlement contract/m,
  );
  const shown = async () => JSON.parse(await status("--json")).daemon.ended;
  expect(await shown()).toEqual({ text: trouble?.message, at: expect.stringMatching(/^20\S+Z$/) });
  const claim = claimDatabase(database);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  expect(await shown(), "a daemon runs").toBeNull();
  noteEndedStart(database, "another start, beside it");
  claim.release();
  expect(await shown()).toEqual({ text: trouble?.message, at: expect.any(String) });
  execute("INSERT INTO daemon_events (kind, detail, at_ms) VALUES ('started', 'dry-run', 1)");
  expect(await shown(), "a later start succeeded").toBeNull();
  await start();
  expect(events()).toEqual(["ended", "started", "ended"]);
});

test("a database that cannot take it, of another release or of nobody, stays as it is", async () => {
  const { start, database, execute, events } = begin();
  noteEndedStart(database, "nothing is made");
  expect(() => readFileSync(database)).toThrow("ENOENT");
  await start();
  execute("DELETE FROM daemon_events; DELETE FROM schema_migrations WHERE set_name = 'lane' AND number > 10");
  noteEndedStart(database, "tables of an older release");
  expect(events()).toEqual([]);
  writeFileSync(database, "no database at all");
  expect(() => noteEndedStart(database, "a file of something else")).not.toThrow();
  expect(readFileSync(database, "utf8")).toBe("no database at all");
});
