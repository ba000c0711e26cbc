import { MINUTE_MS, SECOND_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { OpenRight } from "../../ports/open-right.ts";
import { type AllowancesSeen, isUnbounded } from "../read-allowances.ts";
import { formatInstant, formatTokenAmount } from "../terminal.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** Judges what contracts may take of the wallets on the chain. */
export function judgeAllowances({ allowances, unread }: AllowancesSeen): readonly Judged[] {
  const unknown = unread.map(({ wallet, token, spender, reason }): Judged => {
    const found = `what ${spender} may take is not known: ${reason}`;
    return { what: `${wallet.name} ${token.symbol}`, state: "not tried", found, mend: "swapd allowances list" };
  });
  const none = unread.length === 0 ? "no contract may take any token of the wallets" : NONE_OF_THE_OTHERS;
  return [...unknown, ...(allowances.length === 0 ? [fine("open", none)] : judgeStanding(allowances))];
}

const NONE_OF_THE_OTHERS = "of the tokens that answer, no contract may take any";

function judgeStanding(allowances: AllowancesSeen["allowances"]): readonly Judged[] {
  return allowances.map(({ wallet, token, spender, amount, usd, swap }): Judged => {
    const what = `${wallet.name} ${token.symbol}`;
    const dollars = usd === undefined ? "" : ` (${(Number(usd / 10n ** 16n) / 100).toFixed(2)} USD)`;
    const shown = isUnbounded(amount) ? `unlimited ${token.symbol}` : formatTokenAmount(amount.toString(), token);
    const found = `${spender} may take ${shown}${dollars}`;
    const mend = `swapd allowances revoke ${token.symbol} --wallet ${wallet.name}`;
    if (isUnbounded(amount)) return { what, state: "warning", found: `${found}, all that ever comes`, mend };
    if (swap === undefined) return { what, state: "warning", found: `${found}, and no open swap uses it`, mend };
    return fine(what, `${found}, for the open swap ${swap}`);
  });
}

/** What is past its deadline is closed by the first final block that shows it, which takes so long on no network. */
const CLOSED_WITHIN_MS = 60 * MINUTE_MS;

/** Judges what was signed or allowed for swaps and may still be used. */
export function judgeRights(rights: readonly OpenRight[], nowMs: number): readonly Judged[] {
  if (rights.length === 0) return [fine("open", "nothing that was signed can still be filled")];
  return rights.map((right): Judged => {
    const what = `swap ${right.swap}`;
    const { state, mode, amount, sell, spender, untilSeconds, strategy, openedAtMs } = right;
    const most = amount === undefined ? sell.symbol : formatTokenAmount(amount.toString(), sell);
    const found = `${strategy}: ${mode ?? "proposed"}, ${state}; ${spender} may take ${most} ${untilOf(untilSeconds, nowMs)}`;
    const mend = `swapd show ${right.swap}`;
    if (state === "unknown") return { what, state: "warning", found, mend };
    const overAtMs = untilSeconds === undefined ? openedAtMs : untilSeconds * SECOND_MS;
    if (nowMs - overAtMs <= CLOSED_WITHIN_MS) return fine(what, found);
    const found2 = `${found}; no final block has closed it for ${formatDuration(nowMs - overAtMs)}`;
    return { what, state: "warning", found: found2, mend };
  });
}

function untilOf(untilSeconds: number | undefined, nowMs: number): string {
  if (untilSeconds === undefined) return "until its transaction is over";
  const leftMs = untilSeconds * SECOND_MS - nowMs;
  const until = formatInstant(untilSeconds * SECOND_MS);
  return leftMs > 0 ? `until ${until} (${formatDuration(leftMs)} left)` : `until ${until}, which is past`;
}
