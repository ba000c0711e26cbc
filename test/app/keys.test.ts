import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { openDaemonDatabase } from "../../src/app/daemon-database.ts";
import { digestOf, withKeyStore } from "../../src/service/keys/key-store.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

async function keys(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: "", err: "" };
  const code = await runCli(["node", "swapd", "keys", ...args], {
    out: (text) => {
      written.out += `${text}\n`;
    },
    err: (text) => {
      written.err += `${text}\n`;
    },
    isInteractive: false,
  });
  return { code, ...written };
}

it("makes a key that is shown once, lists everything but the key, and ends it for good", async () => {
  const database = join(temporaryDirectory(), "service.db");
  const at = ["--database", database];
  expect(await keys("list", ...at)).toMatchObject({ code: 0, out: expect.stringContaining("no keys") });
  const made = await keys("add", "partner", "--requests-per-second", "9", ...at);
  const key = made.out.trim();
  expect(withKeyStore(database, (store) => store.find(digestOf(key)))).toMatchObject({ requestsPerSecond: 9 });
  expect((await keys("add", "partner", ...at)).code).toBe(1);
  expect((await keys("add", "no\u0007name", ...at)).code).toBe(2);
  expect((await keys("add", "none", "--requests-per-second", "0", ...at)).code).toBe(2);
  const listed = await keys("list", "--json", ...at);
  expect(JSON.parse(listed.out)).toMatchObject({ keys: [{ name: "partner", revokedAtMs: null }] });
  expect(listed.out).not.toContain(key);
  expect(listed.out).not.toContain(digestOf(key));
  expect((await keys("revoke", "partner", ...at)).code).toBe(0);
  expect((await keys("revoke", "partner", ...at)).code).toBe(1);
  expect(withKeyStore(database, (store) => store.find(digestOf(key)))).toBeUndefined();
});

it("names the database that it acted on in what it advises, as a shell reads it", async () => {
  for (const [name, shown] of [
    ["service.db", (file: string) => file],
    ["its own.db", (file: string) => `'${file}'`],
  ] as const) {
    const database = join(temporaryDirectory(), name);
    const { out } = await keys("list", "--database", database);
    expect(out).toContain(`\`swapd keys add <name> --database ${shown(database)}\``);
    const { err } = await keys("revoke", "partner", "--database", database);
    expect(err).toContain(`\`swapd keys list --database ${shown(database)}\``);
  }
});

it("takes no daemon's database for a service's, and writes nothing there", async () => {
  const database = join(temporaryDirectory(), "swapd.db");
  openDaemonDatabase(database).close();
  const before = readFileSync(database);
  const terminal = { out: () => undefined, err: () => undefined, isInteractive: false };
  for (const command of [["add", "partner"], ["list"], ["revoke", "partner"]]) {
    const { code, err } = await keys(...command, "--database", database);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("this is a daemon's database; name the service's own one"),
    ]);
  }
  expect(readFileSync(database).equals(before)).toBe(true);
  const network = ["--network", "base", "--rpc", "http://127.0.0.1:1"];
  expect(await runCli(["node", "swapd", "serve", ...network, "--database", database], terminal)).toBe(2);
});
