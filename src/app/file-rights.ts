import { statSync } from "node:fs";

/** Rights of the owner's group and of everybody. */
const OTHERS = 0o077;
const ALL = 0o777;

/** The rights of a file that somebody else than its owner has a right to, in octal; undefined where nobody has. */
export function rightsOfOthers(file: string): string | undefined {
  const mode = modeOf(file);
  if (mode === undefined || (mode & OTHERS) === 0) return undefined;
  return (mode & ALL).toString(8).padStart(4, "0");
}

function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode;
  } catch {
    // That it is not there is found by whoever opens it.
    return undefined;
  }
}
