import type { Run, Swap } from "../answers.ts";
import { shorten } from "../format/decimal.ts";
import { inWords } from "../format/words.ts";
import { linkToRun, linkToStrategy } from "../route.ts";
import { At, Badge } from "./bits.tsx";

/** What a swap exchanges, in one line. */
export function swapText(swap: Swap): string {
  const sold = swap.sold ?? swap.asked;
  const bought = swap.bought ?? swap.quoted;
  const sell = sold === null ? swap.sell.symbol : `${shorten(sold.amount)} ${sold.symbol}`;
  const about = swap.bought === null && bought !== null ? "about " : "";
  const buy = bought === null ? swap.buy.symbol : `${about}${shorten(bought.amount)} ${bought.symbol}`;
  return `${sell} → ${buy}`;
}

/** A run in a long list: one line, or three short ones on a phone. */
export function RunRow({ run }: { readonly run: Run }) {
  const what = run.swaps.length > 0 ? run.swaps.map(swapText).join("; ") : inWords(run.reason ?? "");
  return (
    <div class="run-row">
      <a href={linkToRun(run.id)}>
        <At instant={run.slot} />
        <span class="unseen"> run of {run.strategy}</span>
      </a>
      <a href={linkToStrategy(run.strategy)} class="run-strategy">
        {run.strategy}
      </a>
      <Badge state={run.state} />
      <span class="run-what" title={run.detail ?? what}>
        {what}
      </span>
    </div>
  );
}
