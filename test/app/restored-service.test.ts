import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openLanes } from "../../src/adapters/sqlite/lanes.ts";
import { backup } from "../../src/app/commands/backup.ts";
import { restore } from "../../src/app/commands/restore.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { digestOf, withKeyStore } from "../../src/service/keys/key-store.ts";
import { serviceVersions } from "../../src/service/store/schema.ts";
import { openServiceDatabase } from "../../src/service/store/service-store.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { migrate, readMigrations } from "../../src/storage/migrations.ts";
import { WALLET } from "../config/project.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { readDryExample } from "../support/example-file.ts";
import { said } from "../support/said.ts";

let config: string;
let copy: string;
let database: string;
let service: string;
beforeEach(async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  config = join(folder.path, "config/mine.yaml");
  database = join(folder.path, "swapd.db");
  service = join(folder.path, "service.db");
  copy = `${database}.copy`;
  const own = readDryExample(folder.path).replace("main: {", `main: { address: "${WALLET}",`);
  writeFileSync(config, own.replace("/data/swapd.db", database).replace("/data/service.db", service));
  openDaemonDatabase(database).db.close();
  openServiceDatabase(service).close();
});

const key = (name: string): string =>
  withKeyStore(service, (keys) => keys.add({ name, requestsPerSecond: null }, 1)) ?? "";
const opens = (made: string): boolean => withKeyStore(service, (keys) => keys.find(digestOf(made))) !== undefined;
const backUp = () => said((terminal) => backup({ config, to: copy }, terminal));
const putBack = () => said((terminal) => restore(copy, { config }, terminal));

test("a key that was revoked since the copy was made opens nothing after its restore, one in force still does", async () => {
  const [revoked, kept] = [key("partner"), key("own")];
  await backUp();
  withKeyStore(service, (keys) => keys.revoke("partner", 7));
  const { code, text } = await putBack();
  expect([code, opens(revoked), opens(kept)], text).toEqual([0, false, true]);
  expect(text).toContain("keys of the service that are ended, as in what stood there: partner; a new one is made with");
  const rows = withKeyStore(service, (keys) => keys.list());
  expect(rows.map(({ name, revokedAtMs }) => [name, revokedAtMs])).toEqual([
    ["partner", 7],
    ["own", null],
  ]);
});

test.each([
  ["is gone", () => undefined, "because what was revoked since"],
  ["cannot be read", () => writeFileSync(service, "no database"), "because what was revoked since"],
  ["is another one", () => openServiceDatabase(service).close(), "as in what stood there"],
])("where the service's database %s, no key of the copy opens anything, and that is said", async (_what, lose, why) => {
  const made = key("partner");
  await backUp();
  rmSync(service);
  lose();
  const { code, text } = await putBack();
  expect([code, opens(made)], text).toEqual([0, false]);
  expect(text).toContain(why);
  expect(text).toContain(": partner; a new one is made with `swapd keys add`");
});

test("a relayer that was halted since the copy was made stays halted, also where the copy knows of none", async () => {
  await backUp();
  const db = openDatabase({ file: service });
  const halt = {
    account: toAddress(WALLET),
    chainId: 8453,
    reason: "a foreign nonce",
    transactionCount: 3,
    atMs: 5,
  } as const;
  openLanes(db).rows.addHalt(halt);
  db.close();
  for (const isInCopy of [false, true]) {
    const { code, text } = await putBack();
    expect(code, text).toBe(0);
    expect(text.includes("stays halted (a foreign nonce): `swapd resume --relayer`")).toBe(!isInCopy);
    const after = openDatabase({ file: service });
    expect(openLanes(after).rows.halts()).toEqual([halt]);
    after.close();
    rmSync(copy);
    rmSync(`${copy}.service`);
    await backUp();
  }
});

const FOLDERS = [
  ["service", "store"],
  ["service-keys", "keys"],
] as const;

/** A start of a newer release, which has one more migration of each set. @returns the copies that it made before */
function startNewer(): readonly string[] {
  const db = openDatabase({ file: service });
  try {
    return FOLDERS.flatMap(([set, folder]) => {
      const own = readMigrations(new URL(`../../src/service/${folder}/migrations/`, import.meta.url));
      const sql = `CREATE TABLE of_later_${folder} (one INTEGER) STRICT`;
      const migrations = [...own, { number: own.length + 1, name: "of-later", sql }];
      return migrate(db, { set, migrations, backup: true }).backupFile ?? [];
    });
  } finally {
    db.close();
  }
}

test("a step back takes the service's copy of before its own migrations along, and a key revoked since stays so", async () => {
  const [revoked, kept] = [key("partner"), key("own")];
  const ofDaemon = `${database}.before-daemon-1`;
  await said((terminal) => backup({ config, to: ofDaemon }, terminal));
  rmSync(`${ofDaemon}.service`);
  const copies = startNewer();
  expect(copies.length).toBe(2);
  expect(() => openServiceDatabase(service)).toThrow(`${service} has migration`);
  const revoke = openDatabase({ file: service });
  revoke.exec("UPDATE api_keys SET revoked_at_ms = 7 WHERE name = 'partner'");
  revoke.close();
  const { code, text } = await said((terminal) => restore(ofDaemon, { config }, terminal));
  expect(code, text).toBe(0);
  expect(text).toContain(`${service} is ${copies[0]} now; what stood there is ${service}.replaced-`);
  openServiceDatabase(service).close();
  expect([opens(revoked), opens(kept)]).toEqual([false, true]);
});

test("where a newer release's service has no copy of before, nothing is restored, and what to do is said", async () => {
  key("partner");
  await backUp();
  rmSync(`${copy}.service`);
  for (const made of startNewer()) rmSync(made);
  const before = readFileSync(database);
  const { code, text } = await putBack();
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(
      /nothing is restored: a newer release made the tables of .*service\.db \(migration \d+ of service, /,
    ),
  ]);
  expect(readFileSync(database).equals(before)).toBe(true);
  rmSync(service);
  expect(await putBack()).toMatchObject({ code: 0 });
});

test("the service's copy alone is put back where the daemon's database had no migration, and a newer one is refused", async () => {
  const made = key("partner");
  const [oldest = "", newer = ""] = startNewer();
  const before = readFileSync(database);
  const refused = await said((terminal) => restore(newer, { config }, terminal));
  expect(refused).toMatchObject({
    code: 1,
    text: expect.stringContaining(`${newer} is not restored: a newer release`),
  });
  const { code, text } = await said((terminal) => restore(oldest, { config }, terminal));
  expect([code, opens(made)], text).toEqual([0, true]);
  expect(text).not.toContain("the chain");
  openServiceDatabase(service).close();
  expect(readFileSync(database).equals(before)).toBe(true);
});

test("every set of tables that a service makes is known by how far it is", () => {
  const root = fileURLToPath(new URL("../../src/service/", import.meta.url));
  const folders = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("/migrations"),
  );
  const db = openDatabase({ file: service, readonly: true });
  onTestFinished(() => void db.close());
  const known = serviceVersions(db).map((one) => one.known);
  const files = folders.map((folder) => readdirSync(join(root, folder)).length);
  expect([...known].sort()).toEqual([...files].sort());
});
