import { expect } from "vitest";
import { createStore } from "../../../src/adapters/sqlite/daemon/store.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { letAllGo } from "../../support/old-runs.ts";
import type { Journal } from "./journal.ts";
import { buildWorld, type Case, type Copy, codesOf, type World } from "./world.ts";

/** A world in which seven runs may be archived. */
export async function buildOldWorld(): Promise<World> {
  // The newest of an account and of a right stay where they are: later ones let all of the others go.
  return await buildWorld([], async (trader, { tokens: { ETH, USDC, DAI, WETH } }) => {
    await trader.swapGasless({ id: "z-gasless", sell: DAI, buy: USDC, amount: 3_000n });
    await trader.swapGasless({ id: "z-usdc", sell: USDC, buy: DAI, amount: 4_000_000n });
    await trader.swapSelfExecuted({ id: "z-native", sell: ETH, buy: USDC, amount: 10n ** 14n });
    await trader.swapSelfExecuted({ id: "z-own", sell: USDC, buy: WETH, amount: 6_000_000n });
  });
}

/** Lets go of what is old in the database that a journal writes. */
export function archive(journal: Journal): number {
  const db = openDatabase({ file: String(journal.get("SELECT file FROM pragma_database_list WHERE name = 'main'")) });
  try {
    db.pragma("foreign_keys = OFF");
    const store = createStore(db);
    const idle = { sinceMs: Date.now(), atLeastOneSinceMs: Date.now() };
    store.transaction(() => store.closeGaps(idle));
    return letAllGo(store).archived;
  } finally {
    db.close();
  }
}

/** The same differences before the rows are archived and afterwards. */
export async function findsTheSame(where: World, { spoil, keepsSums }: Case): Promise<void> {
  const spoilt = async (copy: Copy): Promise<void> => {
    await spoil(copy);
    if (keepsSums !== true) copy.journal.recount();
  };
  const before = await where.auditAfter(spoilt, { keepsSums: true });
  const after = await where.auditAfter(
    async (copy) => {
      await spoilt(copy);
      expect(archive(copy.journal)).toBeGreaterThan(0);
    },
    { keepsSums: true },
  );
  expect(codesOf(before)).not.toEqual([]);
  const found = ({ differences }: typeof before) => differences.map(({ code, subject }) => `${code} ${subject}`).sort();
  expect(found(after)).toEqual(found(before));
}
