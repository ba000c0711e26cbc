import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { operatorName } from "../../src/app/operator-name.ts";
import { makeFolder } from "../e2e/support/swapd.ts";
import { runsOf } from "../support/budget-life.ts";
import { SLOT_MS } from "../support/builders.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";
import { readDryExample } from "../support/example-file.ts";

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

async function swapd(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const into = (said: string[]) => (text: string) => void said.push(text);
  const code = await runCli(["node", "swapd", ...words, "--config", file], {
    out: into(out),
    err: into(err),
    isInteractive: false,
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

it("what only a daemon can do makes no database where there is none", async () => {
  expect(await swapd("run", "weekly-eth")).toMatchObject({
    code: 1,
    err: expect.stringContaining(`no daemon runs on ${database}`),
  });
  expect(await swapd("skip", "run_1")).toMatchObject({ code: 1, err: expect.stringContaining("no daemon runs on") });
  expect(existsSync(database)).toBe(false);
});

it.each([["status"], ["backup"], ["tx list"]])(
  "%s of a file without tables says that the daemon has not run yet",
  async (command) => {
    writeFileSync(database, "");
    expect(await swapd(...command.split(" "))).toMatchObject({
      code: 1,
      err: expect.stringContaining("the daemon has not run yet"),
    });
  },
);

it.runIf(process.getuid?.() === 0)(
  "root's halt where there is no database yet makes one that the folder's owner, whom the daemon runs as, can open",
  async () => {
    const folder = join(dirname(database), "of-the-daemon");
    mkdirSync(folder);
    chownSync(folder, 12_345, 12_345);
    const made = join(folder, "swapd.db");
    writeFileSync(file, readFileSync(file, "utf8").replace(database, made));
    expect(await swapd("halt")).toMatchObject({ code: 0 });
    const owners = readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).uid}`);
    expect(owners.filter((one) => !one.includes(".before-"))).toEqual(["swapd.db 12345", "swapd.db.lock.db 12345"]);
  },
);

it("a file that is no database, or of another program, is a person's to change", async () => {
  writeFileSync(database, "this is no database, and long enough to be taken for a damaged one by anyone who opens it");
  expect(await swapd("halt")).toMatchObject({ code: 78, err: expect.stringContaining(database) });
});

it("a node that is away may come back", async () => {
  const settlement = "0x00000000000000000000000000000000000000aa";
  const outcome = await swapd("settlement", "verify", settlement);
  expect(outcome).toMatchObject({ code: 75, err: expect.stringContaining("127.0.0.1:1") });
});

it.each([0, 4_096, 40_960])("db check of a database that is damaged from byte %i on says so", async (from) => {
  openDaemonDatabase(database).db.close();
  const bytes = readFileSync(database);
  writeFileSync(database, bytes.fill(0xff, from, from + 9_000));
  const { code, out } = await swapd("db", "check");
  expect([code, out]).toEqual([1, expect.stringMatching(/is damaged|malformed|not a database|Tree /)]);
});

it("a resume that no daemon took before it ended does not undo a halt that came after it", async () => {
  const { store } = openDaemonDatabase(database);
  const asked = (mode: string, scope: string): number =>
    store.addRequest({ command: "mode", arguments: { mode, scope }, madeBy: "owner", madeAtMs: 0 });
  const older = asked("active", "global");
  const other = asked("paused", "weekly-eth");
  expect(await swapd("halt")).toMatchObject({ code: 0, err: "" });
  expect(store.mode("global")?.mode).toBe("halted");
  expect(store.answerOf(older)).toMatch(/^refused: .* set since/);
  expect(store.openRequests()).toMatchObject([{ id: other }]);
});

it("a run that waits is refused without a daemon too: the next start ends it, though its time is over by then", async () => {
  const schedule = { kind: "every" as const, seconds: 3_600, anchorSeconds: SLOT_MS / 1_000 };
  const outside = createOutside(SLOT_MS - 1_500, { schedule, retryForSeconds: 600, announceSeconds: 90 });
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 15);
  const [waiting] = runsOf(life);
  life.kill();
  life.db.close();
  writeFileSync(file, readFileSync(file, "utf8").replace(database, life.file));
  expect(await swapd("skip", "weekly-eth"), "of a slot only a daemon can say whose it is").toMatchObject({ code: 1 });
  expect(await swapd("skip", "run_none")).toMatchObject({ code: 1, err: expect.stringContaining("refused: no run") });
  expect(await swapd("skip", waiting?.id ?? "")).toMatchObject({
    ...{ code: 0, err: "" },
    out: expect.stringContaining(
      `refused ${waiting?.id} of weekly: nothing of it is signed; no daemon runs, so the next start ends it\n`,
    ),
  });
  const again = await swapd("skip", waiting?.id ?? "");
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("has refused") });
  await outside.clock.advance(100_000);
  outside.chain.mine();
  const next = openLife(outside);
  await next.engine.start();
  await turn(outside, next, 30);
  expect(runsOf(next)).toMatchObject([{ state: "skipped", reason: "refused_by_operator" }]);
  expect([outside.signed, next.errors]).toEqual([[], []]);
});

it("who asks under a number that no account of the machine has, as in many a container, is named by it", () => {
  const nobody = (): never => {
    throw Object.assign(new Error("uv_os_get_passwd returned ENOENT"), { code: "ERR_SYSTEM_ERROR" });
  };
  expect(operatorName(nobody)).toBe(`uid ${process.getuid?.()}`);
  expect(operatorName(() => ({ username: "owner" }))).toBe("owner");
});
