import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../src/storage/database.ts";
import { MAIN, project, WALLET } from "../config/project.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { startHttpServer } from "../support/http-server.ts";
import { makeFolder, run, start, until } from "./support/swapd.ts";

// A start that ends before a daemon begins leaves a database behind, and so does a halt: commands that read it have to
// know what it is. Nothing answers at this address, which no command here needs.
const DEAD = "http://127.0.0.1:1";

/** A folder with what `swapd init` writes for base on paper, and its commands. */
async function begin() {
  const folder = makeFolder();
  onTestFinished(folder.remove);
  const home = join(folder.path, "home");
  const env = { RPC_1: DEAD, SWAPD_CONFIG: join(home, "swapd.yaml") };
  const made = await run(folder.path, ["init", "--yes", "--offline", "--wallet", "new", "--dir", home], env);
  expect(made.code, made.err).toBe(0);
  return { folder, home, env, asked: (...args: string[]) => run(folder.path, args, env) };
}

test("a daemon that waits for its node on its first start says so, and its strategies can be halted", async () => {
  const { folder, home, env, asked } = await begin();
  const file = join(home, "swapd.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("127.0.0.1:9464", "127.0.0.1:0"));
  const daemon = start(folder.path, ["start"], env);
  const around = { process: daemon, withinMs: 30_000 };
  await until("the status tells of the wait", around, async () => {
    return (await asked("status")).out.includes("no strategy has begun: the daemon waits");
  });
  const halted = await asked("halt", "buy-weth");
  expect([halted.code, halted.out]).toEqual([0, expect.stringContaining("buy-weth is halted")]);
  const why = await asked("why", "buy-weth");
  expect([why.code, why.err]).toEqual([2, expect.stringContaining("until the daemon has reached its node")]);
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
}, 60_000);

test.each([
  ["lock was taken away", 75, (database: string) => rmSync(`${database}.lock.db`), /lock\.db was removed/],
  ["rows break an invariant", 70, breakRows, /SqliteError: no such table: requests/],
])(
  "why a daemon ended whose %s stands in status",
  async (_what, code, spoil, why) => {
    const node = await startBareAnvil({ chainId: 8453 });
    const service = await startHttpServer((_request, response) => void response.writeHead(503).end());
    const main = MAIN.replace("url: embedded", `url: "${service.url}"`)
      .replace("mode: live", "mode: dry-run")
      .replace(/main: \{.*\}/, `main: { address: "${WALLET}" }`);
    const folder = project({ "main.yaml": `${main}http: { listen: 127.0.0.1:0 }\ndatabase: swapd.db\n` });
    const env = { RPC_1: node.url, SWAPD_CONFIG: join(folder, "main.yaml") };
    const daemon = start(folder, ["start"], env);
    await until("the daemon is up", { process: daemon, withinMs: 40_000 }, () =>
      daemon.output().includes("the daemon is up"),
    );
    spoil(join(folder, "swapd.db"));
    expect((await daemon.ended).code).toBe(code);
    const { out } = await run(folder, ["status"], env);
    expect(out).toMatch(/^no daemon runs; the last start ended 20\S+Z: the daemon stops, the next start recovers: /m);
    expect(out).toMatch(why);
  },
  90_000,
);

function breakRows(database: string): void {
  const db = openDatabase({ file: database });
  db.exec("ALTER TABLE requests RENAME TO requests_gone");
  db.close();
}

test("a start that ends for want of a secret leaves a database on paper that every command can read", async () => {
  const { folder, home, asked } = await begin();
  appendFileSync(
    join(home, "swapd.yaml"),
    "alerts: { channels: { phone: { kind: ntfy, topic: { env: NO_SUCH_TOPIC }, token: { env: NO_SUCH_TOKEN } } } }\n",
  );
  const started = await asked("start");
  expect(started.code).toBe(78);
  expect(started.err + started.out).toContain("NO_SUCH_TOPIC");

  expect((await asked("status")).code).toBe(0);
  const doctor = await asked("doctor");
  expect(doctor.code, doctor.err).toBe(1);
  expect(doctor.err).not.toContain("SqliteError");
  expect((await asked("db", "check")).out).not.toContain("older release");
  const database = readdirSync(home, { recursive: true })
    .map(String)
    .filter((file) => file.includes(".db"));
  expect(database.filter((file) => file.includes(".before-"))).toEqual([]);

  expect(JSON.parse((await asked("lots", "--json")).out)).toMatchObject({ world: "paper" });
  const koinly = await asked("export", "--format", "koinly");
  expect([koinly.code, koinly.err]).toEqual([1, expect.stringContaining("on paper")]);
  const copy = join(folder.path, "copy.db");
  expect((await asked("backup", "--to", copy)).code).toBe(0);
  const restored = await asked("restore", copy);
  expect([restored.code, restored.err]).toEqual([0, expect.anything()]);
}, 60_000);
