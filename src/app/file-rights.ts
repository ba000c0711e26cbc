import { type Stats, statSync } from "node:fs";
import { inShell } from "./in-shell.ts";

const GROUP = 0o070;
const EVERYBODY = 0o007;
const ALL = 0o777;

/** Who asks: the user of this process, and its groups. */
export interface Asking {
  readonly uid: number;
  readonly groups: readonly number[];
}

/** Who else may use a file, and what ends that without taking it from us. */
export interface RightsOfOthers {
  /** in octal */
  readonly rights: string;
  readonly command: string;
}

/**
 * Who else than its owner has a right to a file; undefined where nobody has. A group that was given it on purpose is nobody
 * else: a cluster mounts secrets as `root`'s for the group of a pod, and a package gives root's files to a service's group.
 */
export function rightsOfOthers(file: string, asking: Asking = thisUser()): RightsOfOthers | undefined {
  const stats = statsOf(file);
  if (stats === undefined) return undefined;
  const isMeant = isForTheGroup(stats, asking);
  if ((stats.mode & (isMeant ? EVERYBODY : GROUP | EVERYBODY)) === 0) return undefined;
  return {
    rights: (stats.mode & ALL).toString(8).padStart(4, "0"),
    command: commandOf(file, stats, { isMeant, asking }),
  };
}

function isForTheGroup({ mode, uid, gid }: Stats, asking: Asking): boolean {
  if ((mode & GROUP) === 0) return false;
  if (uid === 0 && gid !== 0) return true;
  return uid !== asking.uid && asking.uid !== 0 && asking.groups.includes(gid);
}

/** `chmod 600` of a file that is another user's would take it from us. */
function commandOf(file: string, { uid }: Stats, about: { isMeant: boolean; asking: Asking }): string {
  const name = inShell(file);
  if (about.isMeant) return `chmod o= ${name}`;
  const isOurs = uid === about.asking.uid || about.asking.uid === 0;
  return isOurs ? `chmod 600 ${name}` : `chown ${about.asking.uid} ${name} && chmod 600 ${name}`;
}

/** Windows has neither users nor groups by number; its files have no such rights. */
function thisUser(): Asking {
  return { uid: process.geteuid?.() ?? 0, groups: [process.getegid?.() ?? 0, ...(process.getgroups?.() ?? [])] };
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // That it is not there is found by whoever opens it.
    return undefined;
  }
}
