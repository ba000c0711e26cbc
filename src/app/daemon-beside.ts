import { besideOf } from "../config/build-paper.ts";
import { checkClaim } from "../storage/claim.ts";

/**
 * The other database of the same main file, that of paper or that of all other modes, where a daemon runs on it and none
 * on this one: the mode in the file was edited since its start.
 */
export function databaseAtWork(database: string): string | undefined {
  const beside = besideOf(database);
  return checkClaim(beside).kind === "held" && checkClaim(database).kind === "free" ? beside : undefined;
}

/** What people are told of it. */
export function describeAtWork(database: string): string {
  return `a daemon runs on ${database}, started in another mode than the file names now`;
}
