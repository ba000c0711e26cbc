import { MINUTE_MS, SECOND_MS } from "../../domain/time/durations.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { OpenRight } from "../../ports/open-right.ts";
import { isUnbounded, type StandingAllowance } from "../read-allowances.ts";
import { formatInstant, formatTokenAmount } from "../terminal.ts";
import { fine, type Judged } from "./diagnosis.ts";

/** Judges what contracts may take of the wallets on the chain. */
export function judgeAllowances(allowances: readonly StandingAllowance[]): readonly Judged[] {
  if (allowances.length === 0) return [fine("open", "no contract may take any token of the wallets")];
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
