import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createAccessStore, endAllAccess } from "../../src/adapters/sqlite/daemon/access-store.ts";
import { hashOfCode, hashOfSecret } from "../../src/app/http/api/secrets.ts";
import { writeSandboxFacts } from "../../src/app/sandbox-facts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";

let folder: ReturnType<typeof makeFolder>;
let database: string;
beforeEach(() => {
  folder = makeFolder();
  const sandbox = join(folder.path, ".swapd/sandbox");
  mkdirSync(sandbox, { recursive: true });
  database = join(sandbox, "swapd.db");
  const address = toAddress(`0x${"1".repeat(40)}`);
  writeSandboxFacts(sandbox, {
    ...{ rpcUrl: "http://127.0.0.1:1", chainId: 31_337, wrappedNative: address, settlement: address },
    ...{
      serviceUrl: null,
      mode: "live",
      database,
      environment: {},
      configuration: join(folder.path, "config/sandbox.yaml"),
    },
  });
});
afterEach(() => folder.remove());

const login = (...args: string[]) => runHere(folder.path, ["login", ...args, "--sandbox"]);

it("prints a code that logs in once within ten minutes, and a token that is shown once", async () => {
  const { db } = openDaemonDatabase(database);
  const access = createAccessStore(db);
  const code = await login();
  expect(code).toMatchObject({ code: 0, out: expect.stringMatching(/^[2-9A-Z]{4}(-[2-9A-Z]{4}){2}\n$/) });
  const used = { hash: hashOfCode(code.out), login: { hash: hashOfSecret("cookie"), untilMs: Date.now() + 600_000 } };
  expect(await access.useCode(used, Date.now())).toMatchObject({ kind: "login", scope: "operate" });
  expect(
    await access.useCode({ ...used, login: { ...used.login, hash: hashOfSecret("2") } }, Date.now()),
  ).toBeUndefined();
  const added = await login("add", "grafana", "--scope", "read");
  expect(await access.find(hashOfSecret(added.out.trim()), Date.now())).toMatchObject({
    name: "grafana",
    scope: "read",
  });
  expect(await login("add", "grafana")).toMatchObject({ code: 1, err: expect.stringContaining("in force") });
  const listed = await login("list", "--json");
  expect(JSON.parse(listed.out).access).toMatchObject([{ kind: "login" }, { name: "grafana", kind: "token" }]);
  expect(listed.out).not.toContain(added.out.trim());
  // A list of what is in force must not read like one of what was revoked.
  expect((await login("list")).out).toMatch(/^grafana +token +read .* no end$/m);
  expect((await login("revoke", "grafana")).out).toContain("grafana is revoked");
  expect(await access.find(hashOfSecret(added.out.trim()), Date.now())).toBeUndefined();
  expect((await login("revoke", "grafana")).code).toBe(1);
}, 60_000);

it("gives a token its end where one is stated, and its name back afterwards", async () => {
  const { db } = openDaemonDatabase(database);
  const access = createAccessStore(db);
  const added = JSON.parse((await login("add", "short", "--for", "90d", "--json")).out) as {
    token: string;
    until: string;
  };
  const untilMs = Date.parse(added.until);
  expect(untilMs - Date.now()).toBeGreaterThan(89 * 86_400_000);
  expect(await access.find(hashOfSecret(added.token), untilMs - 1)).toMatchObject({ name: "short" });
  expect(await access.find(hashOfSecret(added.token), untilMs + 1_000)).toBeUndefined();
  const again = { name: "short", scope: "read", hash: hashOfSecret("other"), madeBy: "ops" } as const;
  expect(await access.addToken(again, untilMs - 1)).toBe(false);
  expect(await access.addToken(again, untilMs + 1_000)).toBe(true);
  expect(await login("add", "none", "--for", "soon")).toMatchObject({ code: 2, err: expect.stringContaining("90s") });
}, 60_000);

it("refuses names that are none, and a database without the tables, and makes no database", async () => {
  expect(await login()).toMatchObject({ code: 1, err: expect.stringContaining("swapd sandbox") });
  expect(await login("add", "Bad Name")).toMatchObject({ code: 2, err: expect.stringContaining("lower-case") });
  expect(await login("add", "fine", "--scope", "all")).toMatchObject({ code: 2 });
  expect(existsSync(database)).toBe(false);
}, 60_000);

it("brings nobody back with a restored copy, and keeps what was revoked revoked", async () => {
  const { db } = openDaemonDatabase(database);
  const access = createAccessStore(db);
  await access.addToken({ name: "one", scope: "read", hash: hashOfSecret("one"), madeBy: "me" }, 1);
  expect(endAllAccess(db, 2)).toBe(1);
  expect(await access.find(hashOfSecret("one"), 3)).toBeUndefined();
  expect(() => db.prepare("UPDATE access SET ended_at_ms = NULL").run()).toThrow("stays so");
});
