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

/**
 * Moves what the last sandbox left out of the way of the next one. Whatever kill comes between, the next start brings it
 * back whole: while a part of it is moving, the next one has written nothing.
 */
export function setAside(directory: string): SetAside {
  const [aside, moving] = [join(directory, "last"), join(directory, "moving")];
  const drop = (): void => rmSync(aside, { recursive: true, force: true });
  const bringBack = (): void => {
    if (existsSync(aside)) {
      for (const name of LEFT) rmSync(join(directory, name), { recursive: true, force: true });
      renameSync(aside, moving);
    }
    if (!existsSync(moving)) return;
    move(moving, directory);
    rmSync(moving, { recursive: true });
  };
  // A start that was killed before it could do so itself.
  bringBack();
  mkdirSync(moving);
  move(directory, moving);
  renameSync(moving, aside);
  return { drop, bringBack };
}

function move(from: string, to: string): void {
  for (const name of LEFT) if (existsSync(join(from, name))) renameSync(join(from, name), join(to, name));
}
