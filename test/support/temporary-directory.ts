import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh directory that is removed when the running test ends. */
export function temporaryDirectory(): string {
  return freshDirectory(tmpdir());
}

/** The same in memory where the system has such a place: for tests with very many commits and no power loss. */
export function memoryDirectory(): string {
  return freshDirectory(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir());
}

const SHARED_MEMORY = "/dev/shm";

function freshDirectory(parent: string): string {
  const directory = mkdtempSync(join(parent, "swapd-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
