import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createAccessStore } from "../../adapters/sqlite/daemon/access-store.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";
import type { AccessStore, ListedAccess, Scope } from "../../ports/access.ts";
import { openDatabase } from "../../storage/database.ts";
import { databaseAtWork, describeAtWork } from "../daemon-beside.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { hashOfCode, hashOfSecret, newCode, newToken } from "../http/api/secrets.ts";
import { sayMode } from "../mode-line.ts";
import { operatorName } from "../operator-name.ts";
import { type ChangeOptions, findTargetToChange, nameTarget, type Target } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";
import { typed } from "../typed.ts";

type LoginOptions = ChangeOptions & { readonly json?: boolean };

const CODE_FOR_MS = 10 * MINUTE_MS;
/** It stands in rows and in the log, and is typed. */
const NAME_PATTERN = /^[a-z0-9][a-z0-9._-]{0,31}$/;

/** `swapd login`: prints a code by which a browser logs in, once. It is nowhere else, and only its hash is stored. */
export async function printCode(options: LoginOptions & { readonly scope: Scope }, terminal: Terminal): Promise<void> {
  const place = placeOf(options);
  const [code, atMs] = [newCode(), systemClock.nowMs()];
  const madeBy = operatorName();
  const given = {
    name: nameFrom(madeBy),
    scope: options.scope,
    hash: hashOfCode(code),
    madeBy,
    untilMs: atMs + CODE_FOR_MS,
  };
  await withAccess(place, (access) => access.addCode(given, atMs));
  if (options.json === true) {
    terminal.out(JSON.stringify({ code, scope: options.scope, until: formatInstant(given.untilMs) }));
    return;
  }
  terminal.err(
    `type it into the page of the daemon within 10 minutes; it works once, and ends the code before it\n${place.name}`,
  );
  terminal.out(code);
}

/** `swapd login add`: makes a token for a program, and shows it, once. */
export async function addToken(
  name: string,
  options: LoginOptions & { readonly scope: Scope; readonly for?: number | undefined },
  terminal: Terminal,
): Promise<void> {
  if (!NAME_PATTERN.test(name))
    throw new CommandFailure(
      EXIT.usage,
      `${JSON.stringify(name)} is no name of a token: write up to 32 lower-case letters, digits, dots and hyphens`,
    );
  const { scope } = options;
  const place = placeOf(options);
  const token = newToken();
  const atMs = systemClock.nowMs();
  const untilMs = options.for === undefined ? undefined : atMs + options.for;
  const given = { name, scope, hash: hashOfSecret(token), madeBy: operatorName(), untilMs };
  if (!(await withAccess(place, (access) => access.addToken(given, atMs))))
    throw new CommandFailure(
      EXIT.no,
      `a token named ${name} is in force: revoke it first, or choose another name\n${place.name}`,
    );
  if (options.json === true) {
    terminal.out(
      JSON.stringify({ name, scope, token, ...(untilMs === undefined ? {} : { until: formatInstant(untilMs) }) }),
    );
    return;
  }
  terminal.err(
    `the token of ${name} (${scope}), shown only now; it is in force from the next request on, ${untilMs === undefined ? "until it is revoked" : `until ${formatInstant(untilMs)}`}\n${place.name}`,
  );
  terminal.out(token);
}

/** `swapd login list`: tokens and browsers that are logged in; what they carry is not known. */
export async function listAccess(options: LoginOptions, terminal: Terminal): Promise<void> {
  const place = placeOf(options);
  const { target, database, name } = place;
  sayMode(target, options, terminal);
  if (database !== target.database && options.json !== true) terminal.out(`${name}\n`);
  const all = await withAccess(place, (access) => access.list(systemClock.nowMs()));
  if (options.json === true) {
    terminal.out(JSON.stringify({ access: all.map(accessJson) }));
    return;
  }
  if (all.length === 0) {
    terminal.out("nobody may use the API: log in with `swapd login`, or make a token with `swapd login add <name>`");
    return;
  }
  const heading = ["NAME", "WHAT", "SCOPE", "MADE BY", "MADE", "USED", "UNTIL"];
  const rows = all.map(accessJson);
  terminal.out(
    formatTable([
      heading,
      ...rows.map((row) => [
        row.name,
        row.kind,
        row.scope,
        row.madeBy,
        row.made,
        row.used ?? "-",
        row.until ?? "no end",
      ]),
    ]),
  );
}

/** `swapd login revoke`: ends a token or a login, from the next request on. */
export async function revokeAccess(name: string, options: LoginOptions, terminal: Terminal): Promise<void> {
  const place = placeOf(options);
  const { target, database, name: named } = place;
  const revoke = (access: AccessStore) => access.revoke(name, systemClock.nowMs());
  const isRevoked = await withAccess(place, revoke);
  // What is revoked is revoked after the next start as well.
  const isRevokedBeside =
    database !== target.database &&
    hasAccess(target.database) &&
    (await withAccess({ target, database: target.database }, revoke));
  if (!isRevoked && !isRevokedBeside)
    throw new CommandFailure(
      EXIT.no,
      `nothing of the name ${JSON.stringify(name)} is in force; see: swapd login list\n${named}`,
    );
  terminal.out(`${name} is revoked\n${named}`);
}

function accessJson({ name, kind, scope, madeBy, madeAtMs, usedAtMs, untilMs }: ListedAccess) {
  const instant = (atMs: number | undefined): string | null => (atMs === undefined ? null : formatInstant(atMs));
  return { name, kind, scope, madeBy, made: formatInstant(madeAtMs), used: instant(usedAtMs), until: instant(untilMs) };
}

/** An account of any spelling as a name of ours. */
function nameFrom(account: string): string {
  const name = account
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 24);
  return name === "" ? "login" : name;
}

interface Place {
  readonly target: Target;
  readonly database: string;
  readonly name: string;
}

/** Whose logins and tokens are meant: those of the daemon that runs, whatever mode the file names since its start. */
function placeOf(options: ChangeOptions): Place {
  const target = findTargetToChange(options);
  const atWork = databaseAtWork(target.database);
  if (atWork === undefined) return { target, database: target.database, name: nameTarget(target) };
  const name = `${describeAtWork(atWork)}: this is about that one; the next start is on ${target.database}, with logins and tokens of its own`;
  return { target, database: atWork, name };
}

/** Works on the rows beside a daemon that may be running. */
async function withAccess<T>(
  { target, database }: Pick<Place, "target" | "database">,
  work: (access: AccessStore) => Promise<T>,
): Promise<T> {
  if (!hasAccess(database)) throw withoutTables(target, database);
  const db = openDatabase({ file: database });
  try {
    return await work(createAccessStore(db));
  } finally {
    db.close();
  }
}

function hasAccess(database: string): boolean {
  if (!existsSync(database)) return false;
  const db = openDatabase({ file: database, readonly: true });
  try {
    return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'access'").get() !== undefined;
  } finally {
    db.close();
  }
}

function withoutTables(target: Target, database: string): CommandFailure {
  const what = `${database} is no database of this release yet`;
  const start = typed("swapd start", target);
  return new CommandFailure(EXIT.no, `${what}: start the daemon once with \`${start}\`, then ask again`);
}
