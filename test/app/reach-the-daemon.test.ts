import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { migrateDaemon } from "../../src/adapters/sqlite/daemon/schema.ts";
import { createStore } from "../../src/adapters/sqlite/daemon/store.ts";
import { addressOnly } from "../../src/app/open-secrets.ts";
import { startDaemon } from "../../src/app/start-daemon.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { createRedactor } from "../../src/net/redact.ts";
import { Secret } from "../../src/net/secret.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { DCA, loaded, MAIN, WALLET } from "../config/project.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { runSample } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { makeExampleHome } from "../support/example-file.ts";
import { startHttpServer } from "../support/http-server.ts";
import { swapIn } from "../support/reading-samples.ts";
import { silentLogger } from "../support/silent-logger.ts";

/**
 * A daemon at work, live or on paper, with the folder of its files and what its rows say of the mode of all strategies.
 * @param further lines at the end of its main file
 */
async function startHere(mode: "live" | "paper", further = "") {
  const anvil = await startBareAnvil({ chainId: 8_453 });
  vi.stubEnv("RPC_1", anvil.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const service = await startHttpServer((_request, response) => void response.writeHead(503).end());
  const main = MAIN.replace("url: embedded", `url: "${service.url}"`).replace("mode: live", `mode: ${mode}`);
  const configuration = loaded(
    { "main.yaml": `${main}http: { listen: 127.0.0.1:0 }\n${further}` },
    { RPC_1: anvil.url },
  );
  const daemon = await startDaemon(configuration, service.url, {
    logger: silentLogger(),
    redactor: createRedactor(),
    env: {},
    secrets: {
      open: () => new Secret("none"),
      rpcUrls: () => [new Secret(anvil.url)],
      submitUrls: () => [],
      signer: async () => addressOnly(toAddress(WALLET)),
      privateKey: () => undefined,
    },
  });
  onTestFinished(() => daemon.stop());
  const db = openDatabase({ file: configuration.database, readonly: true });
  onTestFinished(() => void db.close());
  const globalMode = db.prepare("SELECT mode FROM modes WHERE scope = 'global'").pluck();
  const { file, database } = configuration;
  const swapd = (...words: string[]) => runHere(dirname(file), [...words, "--config", file]);
  return { file, database, daemon, folder: dirname(file), swapd, operating: () => globalMode.get() ?? "active" };
}

/** What a person may have done to the files of a daemon that goes on under those of before. */
const BROKEN: Readonly<Record<string, (folder: string) => void>> = {
  "a strategy that is half written": (folder) => writeFileSync(join(folder, "strategies/new.yaml"), "kind: dca\n"),
  "a policy with a typing error": (folder) => edit(folder, "policy.yaml", (text) => `${text}max_trad: "1 USD"\n`),
  "a main file that is no YAML": (folder) => edit(folder, "main.yaml", (text) => `${text}log: "open\n`),
  "a shell without the node's variable": () => void vi.stubEnv("RPC_1", ""),
  "a keystore that is gone": (folder) => edit(folder, "main.yaml", (text) => text.replace("wallet.json", "gone.json")),
};

function edit(folder: string, name: string, change: (text: string) => string): void {
  writeFileSync(join(folder, name), change(readFileSync(join(folder, name), "utf8")));
}

test("files that are broken keep nobody from halting the daemon that goes on under those of before", async () => {
  const { folder, swapd, operating, database } = await startHere("live");
  for (const [what, breakFiles] of Object.entries(BROKEN)) {
    const before = ["main.yaml", "policy.yaml"].map(
      (name) => [name, readFileSync(join(folder, name), "utf8")] as const,
    );
    breakFiles(folder);
    expect((await swapd("pause")).code, what).toBe(0);
    expect(operating(), what).toBe("paused");
    const said = await swapd("halt", "--reason", "in doubt");
    expect(said, what).toMatchObject({ code: 0, out: expect.stringContaining("global is halted\n") });
    expect(said.out, what).toContain(`broken as it is now, see \`swapd check\`; database ${database}`);
    expect(operating(), what).toBe("halted");
    const status = await swapd("status");
    expect(status, what).toMatchObject({ code: 0, out: expect.stringContaining("operating mode halted") });
    expect(status.out, what).toContain("a daemon that runs goes on under the files as they were");
    expect((await swapd("plan")).code, "what needs the files says what is wrong with them").toBe(1);
    for (const [name, text] of before) writeFileSync(join(folder, name), text);
  }
});

test("a halt reaches the daemon however its database is written, while another file is broken", async () => {
  const { folder, swapd, operating, database } = await startHere("live", `"database" :\n  o'brien.db\n`);
  expect(database).toBe(join(folder, "o'brien.db"));
  haltedBefore(join(folder, "swapd.db"));
  BROKEN["a strategy that is half written"]?.(folder);
  const said = await swapd("halt", "--reason", "in doubt");
  expect(said).toMatchObject({ code: 0, out: expect.stringContaining(`see \`swapd check\`; database ${database}`) });
  expect(operating()).toBe("halted");
});

test.each([
  ["live", "paper"],
  ["paper", "live"],
] as const)("a halt reaches the daemon that was started %s while the file says %s", async (started, edited) => {
  const { folder, swapd, operating, database } = await startHere(started);
  edit(folder, "main.yaml", (text) => text.replace(`mode: ${started}`, `mode: ${edited}`));
  const status = await swapd("status");
  expect(`${status.out}${status.err}`).toContain(
    `a daemon runs on ${database}, started in another mode than the file names now`,
  );
  const halted = await swapd("halt", "--reason", "in doubt");
  expect(halted).toMatchObject({ code: 0, out: expect.stringContaining(`on the daemon that runs on ${database}`) });
  expect(operating()).toBe("halted");
  const resumed = await swapd("resume");
  expect(resumed.out).toContain(`this does not reach the daemon that runs on ${database}`);
  expect(operating(), "what lets trade is about the mode that the file names").toBe("halted");
});

test.each([
  ["live", "paper"],
  ["paper", "live"],
] as const)(
  "logins and tokens are those of the daemon that was started %s while the file says %s",
  async (started, edited) => {
    const { folder, swapd, database } = await startHere(started);
    expect((await swapd("login", "add", "bot")).code).toBe(0);
    edit(folder, "main.yaml", (text) => text.replace(`mode: ${started}`, `mode: ${edited}`));
    const inForce = async () =>
      (JSON.parse((await swapd("login", "list", "--json")).out) as { access: unknown[] }).access;
    expect(await inForce()).toMatchObject([{ name: "bot", kind: "token", scope: "operate" }]);
    const said = expect.stringContaining(`a daemon runs on ${database}, started in another mode`);
    expect(await swapd("login"), "the code has to be known where it is typed in").toMatchObject({ code: 0, err: said });
    expect(await swapd("login", "revoke", "bot")).toMatchObject({ code: 0, out: said });
    const db = openDatabase({ file: database, readonly: true });
    onTestFinished(() => void db.close());
    expect(db.prepare("SELECT count(*) FROM access WHERE name = 'bot' AND ended_at_ms IS NULL").pluck().get()).toBe(0);
  },
);

test("a strategy that the daemon beside does not know is halted all the same where the file says, and both are told", async () => {
  const { folder, swapd, database } = await startHere("live");
  edit(folder, "main.yaml", (text) => text.replace("mode: live", "mode: paper"));
  writeFileSync(join(folder, "strategies/newcomer.yaml"), DCA);
  const said = await swapd("halt", "newcomer");
  expect(said).toMatchObject({ code: 1, out: expect.stringContaining("newcomer is halted; no daemon runs") });
  expect(said.err).toContain('no strategy "newcomer"');
  const db = openDatabase({ file: `${database}.paper.db`, readonly: true });
  onTestFinished(() => void db.close());
  expect(db.prepare("SELECT mode FROM modes WHERE scope = 'newcomer'").pluck().get()).toBe("halted");
});

test("a pause that was meant for paper loosens nothing of the live daemon beside it, which is halted", async () => {
  const { folder, swapd, operating, database } = await startHere("live");
  edit(folder, "main.yaml", (text) => text.replace("mode: live", "mode: paper"));
  for (const [word, after, reaches] of [
    ["pause", "paused", true],
    ["exits-only", "paused", false],
    ["halt", "halted", true],
    ["pause", "halted", false],
  ] as const) {
    const said = await swapd(word);
    expect([said.code, operating()], word).toEqual([0, after]);
    expect(said.out.includes(`this does not reach the daemon that runs on ${database}`), word).toBe(!reaches);
  }
});

test("files that are broken let nothing trade but what runs: which database they mean is a guess", async () => {
  const { folder, swapd, operating, database, daemon } = await startHere("paper");
  const live = database.slice(0, -".paper.db".length);
  const modeOf = haltedBefore(live);
  edit(folder, "main.yaml", (text) => text.replace("mode: paper", "mode: papper"));
  expect((await swapd("halt")).code).toBe(0);
  expect(operating()).toBe("halted");
  // Its node is none of the real ones: the daemon answers that it cannot yet.
  expect((await swapd("resume")).err).toMatch(/the daemon waits for its node.*\n.*swapd\.db\.paper\.db\)/);
  expect(modeOf(), "of the live database beside it").toBe("halted");
  await daemon.stop();
  for (const word of ["resume", "exits-only", "pause"])
    expect([(await swapd(word)).code, modeOf()], word).toEqual([1, "halted"]);
  expect((await swapd("resume")).err).toContain("no daemon runs, and the files are broken");
  expect(await swapd("halt")).toMatchObject({
    code: 0,
    out: expect.stringContaining("global is halted; no daemon runs"),
  });
});

/** A database that was halted. @returns what its rows say of the mode of all strategies */
function haltedBefore(file: string): () => unknown {
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  migrateDaemon(db);
  createStore(db).setMode({ scope: "global", mode: "halted", setBy: "ada", reason: "a theft", atMs: 1 });
  const globalMode = db.prepare("SELECT mode FROM modes WHERE scope = 'global'").pluck();
  return () => globalMode.get();
}

test("what is said of a live daemon is said of it as live, though its file says dry-run for the next start", async () => {
  const { folder, swapd, database } = await startHere("live");
  edit(folder, "main.yaml", (text) => text.replace("mode: live", "mode: dry-run"));
  const said = await swapd("history");
  expect(said.out).toContain(`mode live: transactions are signed and sent (database ${database})`);
  expect(said.out).toContain("; the file says dry-run, which the next start takes over");
  expect((await swapd("pause")).out).toContain(`mode live, database ${database})`);
});

test("files that are broken keep nobody from a copy of the rows, and from what the rows say of a run and its gas", async () => {
  const home = makeExampleHome();
  home.write("live");
  const swapd = (...words: string[]) => runHere(home.folder, [...words, "--config", home.file]);
  const database = join(home.folder, "swapd.db");
  const { store, db } = openDaemonDatabase(database);
  addStrategy(store);
  addRun(store, runSample({ state: "executing", swaps: [swapIn("submitted")] }));
  db.close();
  rmSync(join(home.folder, "config/wallet.json"));
  for (const words of [
    ["why", "weekly"],
    ["show", "run_1"],
  ])
    expect(await swapd(...words), words.join(" ")).toMatchObject({
      code: 0,
      out: expect.stringContaining("executing"),
    });
  const { code, out, err } = await swapd("backup");
  expect(code, "who looks at the code hears that something is wrong").toBe(1);
  expect(out).toContain(`${database} -> ${database}.backup-`);
  expect(err).toContain("where the service's is nobody knows while the files are broken: that one is not");
}, 60_000);
