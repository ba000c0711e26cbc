import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { paperDatabaseOf } from "../config/build-paper.ts";

/** Under these names a sandbox keeps its databases, whatever its file says; on paper the daemon's is beside the first. */
export const SANDBOX_DATABASE = "swapd.db";
export const SANDBOX_SERVICE_DATABASE = "service.db";

const BESIDE_A_DATABASE = ["", "-wal", "-shm", ".lock.db", ".limiter.db", ".limiter.db-wal", ".limiter.db-shm"];

/** All that one sandbox leaves. The lock that its successor holds is none of it, nor is what somebody else put there. */
const LEFT = [
  ...["chain.json", "world.json", "network.json", "sandbox.json", "daemon.log", "identity"],
  ...[SANDBOX_DATABASE, paperDatabaseOf(SANDBOX_DATABASE), SANDBOX_SERVICE_DATABASE].flatMap((database) =>
    BESIDE_A_DATABASE.map((suffix) => `${database}${suffix}`),
  ),
];

/** What the last sandbox left, aside until it is known that the next one can start. */
export interface SetAside {
  /** Removes it for good. */
  drop(): void;
  /** Puts it back in place of what the next one wrote; without effect after {@link drop}. */
  bringBack(): void;
}

/** Moves what the last sandbox left out of the way of the next one. */
export function setAside(directory: string): SetAside {
  const aside = join(directory, "last");
  const drop = (): void => rmSync(aside, { recursive: true, force: true });
  const bringBack = (): void => {
    if (!existsSync(aside)) return;
    move(aside, directory);
    drop();
  };
  // A start that was killed before it could do so itself.
  bringBack();
  mkdirSync(aside);
  move(directory, aside);
  return { drop, bringBack };
}

function move(from: string, to: string): void {
  for (const name of LEFT) {
    rmSync(join(to, name), { recursive: true, force: true });
    if (existsSync(join(from, name))) renameSync(join(from, name), join(to, name));
  }
}
