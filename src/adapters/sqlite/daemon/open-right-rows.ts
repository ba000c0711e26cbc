import { toAddress } from "../../../domain/money/address.ts";
import type { OpenRight } from "../../../ports/open-right.ts";
import type { Statements } from "../statements.ts";

interface OpenRightRow {
  readonly swap: string;
  readonly run: string;
  readonly strategy: string;
  readonly state: string;
  readonly mode: string | null;
  readonly wallet: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly amount: string | null;
  readonly spender: string;
  readonly untilSeconds: number | null;
  readonly openedAtMs: number;
}

/** The rights that are live, with what they are for. */
export function readOpenRights(sql: Statements): readonly OpenRight[] {
  const rows = sql.all<OpenRightRow>(
    `SELECT capabilities.swap_id AS swap, swaps.run_id AS run, runs.strategy, swaps.state, swaps.mode,
       capabilities.wallet, swaps.sell_symbol AS symbol, swaps.sell_decimals AS decimals, swaps.amount_in AS amount,
       capabilities.spender, capabilities.until_seconds AS untilSeconds, capabilities.opened_at_ms AS openedAtMs
     FROM capabilities JOIN swaps ON swaps.id = capabilities.swap_id JOIN runs ON runs.id = swaps.run_id
     WHERE capabilities.live = 1 ORDER BY capabilities.opened_at_ms, capabilities.swap_id`,
  );
  return rows.map(({ symbol, decimals, wallet, spender, amount, untilSeconds, ...row }) => ({
    ...row,
    wallet: toAddress(wallet),
    spender: toAddress(spender),
    sell: { symbol, decimals },
    amount: amount === null ? undefined : BigInt(amount),
    untilSeconds: untilSeconds ?? undefined,
  }));
}
