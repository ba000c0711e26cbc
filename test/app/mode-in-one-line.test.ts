import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { runHere } from "../e2e/support/run-here.ts";
import { runSample, SLOT_MS } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { makeExampleHome } from "../support/example-file.ts";

const MODES = ["dry-run", "paper", "live"] as const;
const SAYS_MODE = /\bmode:? (?:is )?(dry-run|paper|live)\b/;

/** What is typed of each command that names a configuration. Neither a daemon nor a node answers, and nothing is changed. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  ...{ history: [], show: ["run_1"], replay: ["run_1"], why: ["weekly"], status: [], doctor: [] },
  export: ["--format", "csv"],
  ...{ "lots list": [], "lots order": ["--wallet", "main", "--pick", "oldest"], report: ["--html", "report.html"] },
  ...{ pause: [], resume: [], "exits-only": [], halt: [], run: ["weekly"], approve: ["run_1"], skip: ["weekly"] },
  ...{ login: [], "login add": ["box"], "login list": [], "login revoke": ["box"] },
  ...{ "allowances list": [], "tx list": [], "tx cancel": ["1"], "notify test": [] },
  ...{ backup: ["--to", "copy.db"], restore: ["copy.db"], "db check": [], "db accept": [] },
  ...{ "keys add": ["me"], "keys list": [], "keys revoke": ["me"], check: ["--offline"] },
};

/** Who else holds it, where a command needs a node or goes on, or is about something else. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  audit: "test/e2e/main-job.test.ts",
  plan: "test/e2e/paper.test.ts",
  start: "test/e2e/paper.test.ts",
  live: "test/app/changing-commands.test.ts",
  "allowances revoke": "test/app/changing-commands.test.ts",
  "settlement deploy": "test/app/changing-commands.test.ts",
  "settlement verify": "it compares code, of whatever mode",
  sandbox: "it is live, on a chain of its own",
  serve: "the service alone has no mode",
  backtest: "it is of the past",
};

let home: ReturnType<typeof makeExampleHome>;
let folder: string;
let file: string;

beforeEach(() => {
  home = makeExampleHome();
  ({ folder, file } = home);
});

/** A configuration of the mode, with a database in which a run is. */
function write(mode: (typeof MODES)[number]): void {
  home.write(mode);
  const database = join(folder, mode === "paper" ? "swapd.db.paper.db" : "swapd.db");
  const { store, db } = openDaemonDatabase(database);
  store.saveIdentity({ network: "base", chainId: 8_453, atMs: SLOT_MS });
  addStrategy(store);
  addRun(store, runSample({ id: "run_1", state: "skipped", reason: "not_due" }));
  db.close();
}

/** Each command that can be typed, by its names, of which a configuration is named. */
async function commandsWithConfiguration(names: readonly string[] = []): Promise<readonly string[]> {
  const help = await helpOf(names);
  const below = [...help.slice(help.indexOf("Commands:")).matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => name);
  const own = /^ {2}--config </m.test(help) ? [names.join(" ")] : [];
  const found = [...own];
  // one at a time: the process has one folder
  for (const name of help.includes("\nCommands:") ? below : [])
    if (name !== undefined && name !== "help") found.push(...(await commandsWithConfiguration([...names, name])));
  return found;
}

async function helpOf(names: readonly string[]): Promise<string> {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  await runHere(folder, [...names, "--help"]);
  write.mockRestore();
  return written.join("");
}

test("no command that names a configuration is left out", async () => {
  const names = await commandsWithConfiguration();
  // Those below `login` have its options.
  const known = [...Object.keys(TYPED), ...Object.keys(ELSEWHERE)].filter((name) => !name.startsWith("login "));
  expect([...names].sort()).toEqual(known.sort());
});

test.each(MODES)(
  "every command says in one line that it is about mode %s",
  async (mode) => {
    write(mode);
    const said: Record<string, string | undefined> = {};
    for (const [command, more] of Object.entries(TYPED)) {
      const { out, err } = await runHere(folder, [...command.split(" "), ...more, "--config", file]);
      const lines = `${out}${err}`.split("\n").flatMap((line) => SAYS_MODE.exec(line)?.[1] ?? []);
      said[command] = [...new Set(lines)].join() || `${out}${err}`;
    }
    expect(said).toEqual(Object.fromEntries(Object.keys(TYPED).map((command) => [command, mode])));
  },
  60_000,
);

test("a document for programs begins with no such line", async () => {
  write("dry-run");
  for (const command of ["history", "tx list", "db check", "login list"]) {
    const { out } = await runHere(folder, [...command.split(" "), "--json", "--config", file]);
    expect(JSON.parse(out), command).toBeTypeOf("object");
  }
  expect(readFileSync(file, "utf8")).toContain("mode: dry-run");
});
