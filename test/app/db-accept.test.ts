import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { acceptDatabase } from "../../src/app/commands/db-accept.ts";
import { checkDatabase } from "../../src/app/commands/db-check.ts";
import { CommandFailure } from "../../src/app/exit-codes.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { Finding } from "../../src/ports/reconciliation-store.ts";
import { claimDatabase } from "../../src/storage/claim.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { type DaemonDatabase, openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";

const WALLET = toAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
const OLDER: Finding = {
  ...{ key: "older 1", wallet: WALLET, token: undefined, kind: "older", scope: "wallet", facts: {} },
  text: "the database is an older copy",
};
const AN_HOUR_MS = 3_600_000;
const agoMs = (ms: number) => ({ ms: Date.now() - ms, sinceBoot: { id: "an earlier boot", ms: 0 } });

let database: DaemonDatabase;
let file: string;
beforeEach(() => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  vi.stubEnv("RPC_1", "http://127.0.0.1:1");
  vi.stubEnv("RPC_2", "http://127.0.0.1:2");
  onTestFinished(() => void vi.unstubAllEnvs());
  file = join(folder.path, "config/mine.yaml");
  const path = join(folder.path, "swapd.db");
  const example = readDryExample(folder.path);
  writeFileSync(file, example.replace("main: {", `main: { address: "${WALLET}",`).replace("/data/swapd.db", path));
  database = openDaemonDatabase(path);
  database.store.saveIdentity({ network: "ethereum", chainId: 1, atMs: 0 });
});

async function accept(json: boolean): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const terminal = { out: (text: string) => void said.push(text), err: () => undefined, isInteractive: false };
  try {
    await acceptDatabase({ config: file, json }, terminal);
    return { code: 0, said: said.join("\n") };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { code: error.exitCode, said: [...said, error.message].join("\n") };
  }
}

const kinds = (): readonly string[] => database.store.openDifferences().map(({ kind }) => kind);

test("no daemon is needed, and the next one looks at the chain once more before it signs", async () => {
  database.store.addDifference(OLDER, agoMs(AN_HOUR_MS));
  const { code, said } = await accept(true);
  expect(code).toBe(0);
  expect(JSON.parse(said)).toMatchObject({
    accepted: true,
    answer: expect.stringContaining("accepted 1:\n  the database is an older copy"),
    database: database.file,
  });
  expect(kinds()).toEqual(["unchecked"]);
});

test("what another database signed a moment ago is not accepted before it must have expired", async () => {
  database.store.addDifference(OLDER, agoMs(0));
  const { code, said } = await accept(false);
  expect([code, kinds()]).toEqual([1, ["older"]]);
  expect(said).toContain("refused: what another database signed may be filled until its deadline");
  expect(said).toContain(`on ${file}`);
});

test("the wall clock shortens no wait, as long as the machine does not boot again", async () => {
  const { id, ms } = systemClock.sinceBoot();
  database.store.addDifference(OLDER, { ms: Date.now() - 24 * AN_HOUR_MS, sinceBoot: { id, ms } });
  expect(await accept(false)).toMatchObject({ code: 1, said: expect.stringContaining("may be filled until") });
  expect(kinds()).toEqual(["older"]);
});

test("a daemon that has the database answers, and the command writes nothing alongside it", async () => {
  database.store.addDifference(OLDER, agoMs(AN_HOUR_MS));
  const claim = claimDatabase(database.file);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  onTestFinished(() => claim.release());
  const asked = accept(true);
  await vi.waitFor(() => expect(database.store.openRequests()).toMatchObject([{ command: "accept" }]), 20_000);
  expect(kinds()).toEqual(["older"]);
  database.store.answerRequest(database.store.openRequests()[0]?.id ?? 0, "accepted 1: it", 0);
  expect(await asked).toMatchObject({ code: 0, said: expect.stringContaining("accepted 1: it") });
});

test("a database whose tables are brought up to date right now, or by a later start, is reported as such and read no further", async () => {
  database.db.exec("DROP TRIGGER signed_counted; ALTER TABLE identity DROP COLUMN signed");
  database.db.exec("DELETE FROM schema_migrations WHERE set_name = 'daemon' AND number > 16");
  const said: string[] = [];
  const terminal = { out: (text: string) => void said.push(text), err: () => undefined, isInteractive: false };
  await expect(checkDatabase({ config: file, json: true }, terminal)).rejects.toMatchObject({ exitCode: 1 });
  expect(JSON.parse(said.join("\n"))).toMatchObject({
    problems: [expect.stringContaining("a start brings its tables up to date right now")],
    differences: [],
  });
});

test("where nothing was found, and where there is no database, it says what comes first", async () => {
  expect(await accept(false)).toMatchObject({ code: 1, said: expect.stringContaining("refused: nothing is open") });
  const missing = { code: 1, said: expect.stringContaining("there is no database at") };
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${database.file}${suffix}`, { force: true });
  expect(await accept(false)).toMatchObject(missing);
});
