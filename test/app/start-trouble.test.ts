import { linkSync } from "node:fs";
import { join } from "node:path";
import SqliteConstructor from "better-sqlite3";
import { expect, it } from "vitest";
import { claimDaemonDatabase, openDaemonDatabase } from "../../src/app/daemon-database.ts";
import { CommandFailure, EXIT } from "../../src/app/exit-codes.ts";
import { troubleOf, troubleOfCommand, troubleOfStart } from "../../src/app/start-trouble.ts";
import { RpcError } from "../../src/chain/json-rpc.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { PreflightError } from "../../src/engine/prepare.ts";
import { SandboxError } from "../../src/sandbox/sandbox-error.ts";
import { InUseError } from "../../src/service/in-use.ts";
import { openDatabase, StorageError } from "../../src/storage/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const coded = (code: string): Error => Object.assign(new Error(`it said ${code}`), { code });
const sqlite = (code: string): Error => new SqliteConstructor.SqliteError("database or disk is full", code);

it.each([
  ["a port that is taken", coded("EADDRINUSE"), "port", 75],
  ["an address that is not there yet", coded("EADDRNOTAVAIL"), "port", 75],
  ["a full disk, met by SQLite", sqlite("SQLITE_FULL"), "passing", 75],
  ["a full disk, met while the database was opened", cannotOpen(sqlite("SQLITE_FULL")), "passing", 75],
  ["a disk that does not answer", sqlite("SQLITE_IOERR_WRITE"), "passing", 75],
  ["a full disk, met by a file", coded("ENOSPC"), "passing", 75],
  ["a database that somebody else writes", sqlite("SQLITE_BUSY"), "passing", 75],
  ["a node that does not answer", new ChainReadError("unreachable", "no node"), "passing", 75],
  ["a second daemon", new CommandFailure(EXIT.tryAgain, "another daemon"), "elsewhere", 75],
  ["a second service", new InUseError("in use"), "elsewhere", 75],
  ["a node of another chain", new ChainReadError("wrong chain", "chain 1"), "person", 78],
  ["tokens that are others", new PreflightError("TOKEN_MISMATCH", "decimals"), "person", 78],
  ["a binary that is not installed", new SandboxError("ANVIL_MISSING", "install it"), "person", 78],
  ["a secret that is missing", new CommandFailure(EXIT.configuration, "missing"), "person", 78],
])("%s is judged by what helps", (_name, error, kind, exitCode) => {
  expect(troubleOf(error)).toMatchObject({ kind, exitCode });
  expect(troubleOfStart(error)).toMatchObject({ kind, exitCode });
});

it.each([
  [new RpcError({ kind: "rpc", host: "node", message: "node: authenticate (code -32600)" }), "check the RPC endpoints"],
  [new RpcError({ kind: "transport", host: "node", message: "node: HTTP 403" }), "HTTP 403"],
])("a node that refuses a command is asked again later: %s", (error, words) => {
  const message = expect.stringContaining(words);
  expect(troubleOfCommand(error)).toMatchObject({ kind: "passing", exitCode: 75, message });
});

it.each([
  ["a folder that is missing", cannotOpen(sqlite("SQLITE_CANTOPEN"))],
  ["a file of another program", new StorageError("foreign file", "not ours")],
  ["options that contradict each other", new Error("contradiction")],
  ["a file that may not be written", coded("EACCES")],
])("%s is a person's at a start, and a broken invariant afterwards", (_name, error) => {
  expect(troubleOfStart(error)).toMatchObject({ kind: "person", exitCode: 78, message: error.message });
  expect(troubleOf(error)).toMatchObject({ kind: "ours", exitCode: 70 });
});

it.each([new TypeError("x is undefined"), new RangeError("too deep"), "thrown text"])(
  "%s is ours at any time",
  (error) => {
    expect(troubleOfStart(error)).toMatchObject({ kind: "ours", exitCode: 70 });
    expect(troubleOf(error)).toMatchObject({ kind: "ours", exitCode: 70 });
  },
);

it("a database that another daemon has is waited for elsewhere, and one with two names is a person's", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  openDatabase({ file }).close();
  const claim = claimDaemonDatabase(file);
  expect(troubleOfStart(thrownBy(() => claimDaemonDatabase(file)))).toMatchObject({ kind: "elsewhere", exitCode: 75 });
  claim.release();
  linkSync(file, `${file}.second`);
  expect(troubleOfStart(thrownBy(() => claimDaemonDatabase(file)))).toMatchObject({ kind: "person", exitCode: 78 });
});

it("a database whose folder is missing is a person's, at a start and for a command, and the folder is said", () => {
  const folder = join(temporaryDirectory(), "not-mounted");
  const thrown = thrownBy(() => claimDaemonDatabase(join(folder, "swapd.db")));
  for (const trouble of [troubleOfStart(thrown), troubleOfCommand(thrown)]) {
    expect(trouble).toMatchObject({ kind: "person", exitCode: 78, message: expect.stringContaining(folder) });
  }
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function cannotOpen(cause: Error): StorageError {
  return new StorageError("cannot open", `cannot open the database: ${cause.message}`, { cause });
}

it("a command that meets the database of a newer release names that as a start does", () => {
  const file = join(temporaryDirectory(), "swapd.db");
  const db = openDaemonDatabase(file);
  db.exec(
    "INSERT INTO schema_migrations SELECT set_name, 1 + MAX(number), 'later', sha256, 1 FROM schema_migrations GROUP BY set_name",
  );
  db.close();
  expect.assertions(1);
  try {
    openDaemonDatabase(file);
  } catch (error) {
    expect(troubleOfCommand(error)).toMatchObject({
      ...{ exitCode: EXIT.configuration, message: expect.stringContaining("start the newer release") },
    });
  }
});
