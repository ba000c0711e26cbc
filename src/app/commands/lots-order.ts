import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { openStore } from "../../adapters/sqlite/daemon/open-store.ts";
import { migrateDaemon } from "../../adapters/sqlite/daemon/schema.ts";
import type { LotPick } from "../../domain/books/shelf.ts";
import { decideLotOrder } from "../../engine/lot-orders.ts";
import type { Decided } from "../../ports/changes.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { operatorName } from "../operator-name.ts";
import { type ChangeOptions, configurationOf, findTargetToChange, nameTarget, notRunYet } from "../target.ts";
import type { Terminal } from "../terminal.ts";
import { ask } from "./request.ts";

/**
 * `swapd lots order`: writes down which lots the sales of a wallet take from now on. The running daemon does it; where
 * none runs, this command does.
 */
export async function orderLots(
  options: ChangeOptions & { readonly wallet: string; readonly pick: LotPick },
  terminal: Terminal,
): Promise<void> {
  const target = findTargetToChange(options);
  const { wallets } = configurationOf(target).configuration;
  const wallet = wallets.get(options.wallet);
  if (wallet === undefined) {
    const known = [...wallets.keys()].join(", ");
    throw new CommandFailure(EXIT.usage, `there is no wallet ${JSON.stringify(options.wallet)}; there are: ${known}`);
  }
  if (!existsSync(target.database)) throw notRunYet(target);
  const asked = { wallet: wallet.address, pick: options.pick };
  const answer = await ask({ name: "lot-order", arguments: asked }, target, async (db) => {
    migrateDaemon(db);
    const decide = (newestFillMs: number): Decided<string> => {
      const atMs = systemClock.nowMs();
      const { answer: value, changes } = decideLotOrder(
        { arguments: asked, madeBy: operatorName() },
        { nowMs: atMs, newestFillMs },
      );
      return { changes, atMs, value };
    };
    const [written] = await openStore(db).commit([{ question: { kind: "newest-fill" } as const, decide }]);
    return `${written?.value ?? ""}; no daemon runs, so this command wrote it down`;
  });
  terminal.out(`${answer}\n${nameTarget(target)}`);
}
