import { existsSync, readFileSync, statfsSync } from "node:fs";

const SHARED_MEMORY = "/dev/shm";

/** Databases, chains and copies of the project that exist at one time take less than a fifth of it. */
const NEEDED_BYTES = 2 ** 30;

/**
 * Where files take no disk: a commit that waits for one takes a hundred times as long, and tests make very many of them.
 * @returns undefined where the system has no such place, a small one, or one that no program may be started from
 */
export function placeInMemory(): string | undefined {
  if (!existsSync("/proc/mounts") || !existsSync(SHARED_MEMORY)) return undefined;
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, place]) => place === SHARED_MEMORY);
  const options = mount?.[3]?.split(",") ?? ["noexec"];
  if (options.includes("noexec") || options.includes("ro")) return undefined;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  return bavail * bsize < NEEDED_BYTES ? undefined : SHARED_MEMORY;
}
