import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that its owner alone can look into, and that is gone with the command however that ends. */
export interface ScratchFolder {
  readonly path: string;
  remove(): void;
}

/** What ends a process by default, and the code that a shell gives for it. */
const ENDING: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
]);

const open = new Set<string>();

/** A signal ends a process without `finally`: a configuration with a key in it, or rows of a database, would stay. */
export function openScratchFolder(prefix: string): ScratchFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (open.size === 0) listen();
  open.add(path);
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true });
      open.delete(path);
      if (open.size === 0) stopListening();
    },
  };
}

function listen(): void {
  process.on("exit", removeAll);
  for (const signal of ENDING.keys()) process.on(signal, endOn);
}

function stopListening(): void {
  process.off("exit", removeAll);
  for (const signal of ENDING.keys()) process.off(signal, endOn);
}

/** Where somebody else listens, such as a daemon that stops cleanly, the signal is theirs. */
function endOn(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) process.exit(ENDING.get(signal));
}

function removeAll(): void {
  for (const path of open) rmSync(path, { recursive: true, force: true });
}
