import type { Listen } from "../config/fields.ts";

/** An address that is listened on, and the key or flag that says so. */
export interface Listening {
  readonly key: string;
  readonly listen: Listen;
}

/**
 * What keeps a port from being listened on, with the key that names it and what to do; undefined for any other error.
 * @param place where the key stands, or could be written: a file, or the command line
 */
export function portTrouble(error: unknown, listening: readonly Listening[], place: string): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || error.syscall !== "listen") return undefined;
  const port = "port" in error ? error.port : undefined;
  const named = listening.filter(({ listen }) => listen.port === port);
  const [first, second] = named;
  if (first === undefined) return undefined;
  const address = `${first.listen.host}:${first.listen.port}`;
  if (second !== undefined) {
    return `${first.key} and ${second.key} are both port ${first.listen.port}: give each a port of its own in ${place}`;
  }
  const code = "code" in error ? error.code : undefined;
  const write = `write another port for ${first.key} in ${place}`;
  if (code === "EADDRINUSE") return `${first.key}: another process listens on ${address}: stop that one, or ${write}`;
  if (code === "EACCES") return `${first.key}: this user may not listen on ${address}: ${write}, from 1024 on`;
  if (code !== "EADDRNOTAVAIL") return undefined;
  return `${first.key}: this machine has no address ${first.listen.host} (now): write one that it has, or 127.0.0.1, in ${place}`;
}
