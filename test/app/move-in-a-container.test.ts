import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openServiceDatabase } from "../../src/service/store/service-store.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { readCommands } from "../readme/readme-commands.ts";
import { addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { makeExampleHome } from "../support/example-file.ts";

// What compose does with the commands of docs/OPERATIONS.md, done with processes: folders of a home where the mounts say.

const page = readFileSync(join(import.meta.dirname, "../../docs/OPERATIONS.md"), "utf8");
const MARKER = "8453-wallet.json";

/** The commands of a part of the page that mount a folder of the host. */
function mounting(part: string): readonly string[] {
  const text = page.slice(page.indexOf(part)).split(/\n- \*\*At|\n### A new key/)[0] ?? "";
  return readCommands(text)
    .map((command) => command.text)
    .filter((command) => / -v \.\/(\w+):\/\1 /.test(command));
}

/** A machine whose volumes are folders of its home: the database's is the home itself. */
function machine() {
  const { folder, file, write } = makeExampleHome();
  write("live");
  mkdirSync(join(folder, "identity"), { mode: 0o700 });
  return { folder, file };
}

async function type(command: string, { folder, file }: ReturnType<typeof machine>): Promise<void> {
  const [, program, rest = ""] = / -v \S+ (?:--entrypoint (\w+) )?swapd (.+)$/.exec(command) ?? [];
  const words = rest.split(" ").map((word) => word.replace(/^\/(?=(?:identity|move|back)\b)/, `${folder}/`));
  if (program !== undefined) execFileSync(program, words);
  else expect(await runHere(folder, [...words, "--config", file]), command).toMatchObject({ code: 0 });
}

/** With one strategy in the daemon's database, and one key in the service's. */
function filled(): ReturnType<typeof machine> {
  const at = machine();
  const { store, db } = openDaemonDatabase(join(at.folder, "swapd.db"));
  store.saveIdentity({ network: "base", chainId: 8_453, atMs: 1 });
  addStrategy(store);
  db.close();
  openServiceDatabase(join(at.folder, "service.db")).close();
  writeFileSync(join(at.folder, "identity", MARKER), "{}", { mode: 0o600 });
  return at;
}

function strategiesIn(folder: string): unknown {
  return openDaemonDatabase(join(folder, "swapd.db")).db.prepare("SELECT count(*) FROM strategies").pluck().get();
}

test("what the page types to move a container takes both databases and the markers to the new machine", async () => {
  const [before, there] = [filled(), machine()];
  const commands = mounting("### To another machine");
  expect(commands).toHaveLength(4);
  mkdirSync(join(before.folder, "move"));
  for (const command of commands.slice(0, 2)) await type(command, before);
  expect(readdirSync(join(before.folder, "move")).sort()).toEqual(["copy.db", "copy.db.service", "identity"]);
  cpSync(join(before.folder, "move"), join(there.folder, "move"), { recursive: true });
  for (const command of commands.slice(2)) await type(command, there);
  expect(readdirSync(join(there.folder, "identity"))).toEqual([MARKER]);
  expect(existsSync(join(there.folder, "service.db"))).toBe(true);
  expect(strategiesIn(there.folder)).toBe(1);
});

test("what the page types to restore a copy that lies on the host puts it into the volume", async () => {
  const [before, there] = [filled(), machine()];
  const copy = join(before.folder, "copy.db");
  expect(await runHere(before.folder, ["backup", "--to", copy, "--config", before.file])).toMatchObject({ code: 0 });
  mkdirSync(join(there.folder, "back"));
  for (const name of ["copy.db", "copy.db.service"])
    cpSync(join(before.folder, name), join(there.folder, "back", name));
  const commands = mounting("- **Restore** with");
  expect(commands).toHaveLength(1);
  for (const command of commands) await type(command, there);
  expect([strategiesIn(there.folder), existsSync(join(there.folder, "service.db"))]).toEqual([1, true]);
});
