import { readdirSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { dirname } from "node:path";
import type { Clock } from "../ports/clock.ts";
import { hostCheck } from "./http/known-host.ts";

/** What a held start watches, and where it answers. */
export interface HeldStart {
  /** what is in the way, for the person who can help */
  readonly problem: string;
  /** where the daemon's health would be; undefined when that address cannot be used now */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** files and folders whose change ends the wait */
  readonly files: readonly string[];
  /** the wait ends after so long at the latest */
  readonly longestMs: number;
}

const POLL_EVERY_MS = 1_000;

/**
 * Waits before a start is tried again: until the time is over,until one of the files has changed, or until a stop
 * is requested. Requests for its health are answered meanwhile: it is not well, and why.
 */
export async function holdStart(held: HeldStart, clock: Clock, stop: AbortSignal): Promise<void> {
  const server = held.listen === undefined ? undefined : await answerUnwell(held.listen, held.problem);
  const before = stateOf(held.files);
  const endsAtMs = clock.monotonicMs() + held.longestMs;
  for (let remainingMs = held.longestMs; remainingMs > 0 && !stop.aborted; ) {
    await clock.sleep(Math.min(POLL_EVERY_MS, remainingMs), stop);
    if (stateOf(held.files) !== before) break;
    remainingMs = endsAtMs - clock.monotonicMs();
  }
  server?.close();
  server?.closeAllConnections();
}

/**
 * Answers 503 to everything, and says why to whoever knows the daemon by an address or the name that it listens at: names
 * of the configuration may be what cannot be read. A port that cannot be had is no reason to end: the log has said what is
 * wrong.
 */
async function answerUnwell(listen: { host: string; port: number }, problem: string): Promise<Server | undefined> {
  const isKnown = hostCheck([listen.host]);
  const server = createServer(({ headers }, response) => {
    const state = { healthy: false, ready: false, started: false };
    const body = JSON.stringify(isKnown(headers.host) ? { ...state, problem } : state);
    response.writeHead(503, { "content-type": "application/json; charset=utf-8" }).end(body);
  });
  return await new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(listen.port, listen.host, () => resolve(server));
  });
}

/** Sizes and times of all files, and of what is in their folders, as one text that changes with any of them. */
function stateOf(files: readonly string[]): string {
  const folders = new Set(files.map((file) => dirname(file)));
  return [...files, ...[...folders].flatMap(filesIn)].map(describe).join("\n");
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

function describe(file: string): string {
  try {
    const { size, mtimeMs, ino } = statSync(file);
    return `${file} ${size} ${mtimeMs} ${ino}`;
  } catch (error) {
    return `${file} ${String(error)}`;
  }
}
