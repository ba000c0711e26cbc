import { existsSync } from "node:fs";
import { checkClaim } from "../storage/claim.ts";
import { standingQuestion } from "./read-standing.ts";
import { type Target, withReads } from "./target.ts";
import { formatInstant } from "./terminal.ts";

/** What a look ahead says where it is about files that the running daemon does not go by; undefined where it does. */
export async function untakenLine(target: Target): Promise<string | undefined> {
  if (!existsSync(target.database) || checkClaim(target.database).kind === "free") return undefined;
  const asked = standingQuestion(undefined, Date.now());
  const { standing } = await withReads(target, async (reads) => await reads.status(asked));
  if (standing?.untaken === undefined) return undefined;
  const { code, sinceMs } = standing.untaken;
  const before = `the daemon that runs goes by its files as they were before ${formatInstant(sinceMs)} (${code})`;
  return `${before}, strategies too: this is about the files as they are now`;
}
