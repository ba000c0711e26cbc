import { carryHalts, openHaltsIn } from "../adapters/sqlite/carried-halts.ts";
import type { LaneHalt } from "../ports/lane-store.ts";
import { type ApiKeyRow, endOtherKeys, storedKeys } from "../service/keys/key-store.ts";
import { openDatabase } from "../storage/database.ts";
import { readIfThere } from "./stops.ts";

/** What a restore keeps of what people, and the chain, said to the service since its copy was made. */
export interface RestoredService {
  /** names of the keys that the copy had in force, and that open nothing any more */
  readonly endedKeys: readonly string[];
  /** accounts of a relayer that are halted in the copy, too */
  readonly keptHalts: readonly Pick<LaneHalt, "account" | "chainId" | "reason">[];
  /** whether what stood there could be read: if not, all keys of the copy end */
  readonly isKnown: boolean;
}

/** Ends in a copy of the service's database what was revoked since, and keeps what halts its relayer. */
export async function keepServiceStops(replaced: string, copy: string, atMs: number): Promise<RestoredService> {
  const stood = await readIfThere(replaced, (db) => {
    // The claim of a restore makes an empty file where none is.
    const isEmpty = db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
    return isEmpty ? undefined : { keys: storedKeys(db), halts: openHaltsIn(db) };
  });
  const db = openDatabase({ file: copy });
  try {
    const ended = endOtherKeys(db, stood?.keys ?? [], atMs);
    const kept = carryHalts(db, stood?.halts ?? []);
    return {
      endedKeys: ended.map(({ name }: ApiKeyRow) => name),
      keptHalts: kept.map(({ account, chainId, reason }) => ({ account, chainId, reason })),
      isKnown: stood !== undefined,
    };
  } finally {
    db.close();
  }
}

/** For people; empty where nothing was kept and nothing ended. */
export function describeService({ endedKeys, keptHalts, isKnown }: RestoredService): readonly string[] {
  const why = isKnown ? "as in what stood there" : "because what was revoked since the copy was made is not known";
  const keys = `keys of the service that are ended, ${why}: ${endedKeys.join(", ")}; a new one is made with \`swapd keys add\``;
  const halts = keptHalts.map(
    ({ account, reason }) => `the relayer ${account} stays halted (${reason}): \`swapd resume --relayer\``,
  );
  return [...(endedKeys.length === 0 ? [] : [keys]), ...halts];
}
