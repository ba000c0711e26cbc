import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { type ApiKeyRow, withKeyStore } from "../../service/keys/key-store.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { inShell } from "../in-shell.ts";
import { serviceDatabase } from "../service-database.ts";
import { configurationFile, nameTarget, readConfiguration } from "../target.ts";
import { formatInstant, formatTable, type Terminal } from "../terminal.ts";

interface KeyOptions {
  readonly config?: string;
  readonly database?: string;
  readonly json?: boolean;
}

const NAME_PATTERN = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u;

/** `swapd keys add`: makes a key and shows it, once. */
export function addKey(name: string, options: KeyOptions & { requestsPerSecond?: number }, terminal: Terminal): void {
  if (!NAME_PATTERN.test(name)) {
    throw new CommandFailure(EXIT.usage, `${JSON.stringify(name)} is no name of a key: up to 64 letters and digits`);
  }
  const { requestsPerSecond = null } = options;
  if (requestsPerSecond === 0) throw new CommandFailure(EXIT.usage, "a key needs at least 1 request per second");
  const { database, place } = serviceOf(options);
  const key = withKeyStore(database, (keys) => keys.add({ name, requestsPerSecond }, systemClock.nowMs()));
  if (key === undefined) {
    throw new CommandFailure(EXIT.no, `a key named ${name} is in force: revoke it first, or choose another name`);
  }
  if (options.json === true) {
    terminal.out(JSON.stringify({ name, key, requestsPerSecond }));
    return;
  }
  terminal.err(`the key of ${name}, shown only now; it is in force from the next request on\n${place}`);
  terminal.out(key);
}

/** `swapd keys list`: everything that is known of the keys, which is not the keys. */
export function listKeys(options: KeyOptions, terminal: Terminal): void {
  const { database, place } = serviceOf(options);
  const rows = existsSync(database) ? withKeyStore(database, (keys) => keys.list()) : [];
  if (options.json === true) {
    terminal.out(JSON.stringify({ keys: rows }));
    return;
  }
  if (rows.length === 0) {
    terminal.out(`no keys; make one with \`swapd keys add <name>${sameService(options)}\`\n${place}`);
    return;
  }
  terminal.out(`${formatTable([["ID", "NAME", "REQUESTS/S", "ADDED", "REVOKED"], ...rows.map(rowOf)])}\n${place}`);
}

function rowOf({ id, name, requestsPerSecond, createdAtMs, revokedAtMs }: ApiKeyRow): string[] {
  const limit = requestsPerSecond === null ? "default" : String(requestsPerSecond);
  return [id, name, limit, formatInstant(createdAtMs), revokedAtMs === null ? "-" : formatInstant(revokedAtMs)];
}

/** `swapd keys revoke`: ends a key for good. */
export function revokeKey(which: string, options: KeyOptions, terminal: Terminal): void {
  const { database, place } = serviceOf(options);
  const row = existsSync(database)
    ? withKeyStore(database, (keys) => keys.revoke(which, systemClock.nowMs()))
    : undefined;
  if (row === undefined) {
    const advice = `see \`swapd keys list${sameService(options)}\``;
    throw new CommandFailure(EXIT.no, `no key in force is called ${which}: ${advice}\n${place}`);
  }
  terminal.out(options.json === true ? JSON.stringify(row) : `the key of ${row.name} (${row.id}) is revoked\n${place}`);
}

/** What names the same service in another command, as a shell reads it. */
function sameService({ config, database }: KeyOptions): string {
  const flags = Object.entries({ config, database }).filter(([, path]) => path !== undefined);
  return flags.map(([flag, path = ""]) => ` --${flag} ${inShell(path)}`).join("");
}

/** The service's database, and in words what a command acted on. */
function serviceOf(options: KeyOptions): { readonly database: string; readonly place: string } {
  if (options.database !== undefined) {
    const database = serviceDatabase(options.database);
    return { database, place: `on the service database ${database}` };
  }
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  const { database } = configuration.serve;
  return { database, place: nameTarget({ kind: "configured", configuration, database }) };
}
