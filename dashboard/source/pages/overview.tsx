import type { Portfolio, Status } from "../answers.ts";
import { plural } from "../format/words.ts";
import { ModeButtons } from "../parts/action-buttons.tsx";
import { Attention } from "../parts/attention.tsx";
import { Badge, Countdown, Dollars } from "../parts/bits.tsx";
import { BudgetMeter, CapMeter } from "../parts/budgets.tsx";
import { Card, Empty, Loaded, Trouble } from "../parts/card.tsx";
import { LatestFills } from "../parts/latest-fills.tsx";
import { LatestMoves } from "../parts/latest-moves.tsx";
import { MixBars } from "../parts/mix-bars.tsx";
import { NextSlots } from "../parts/next-slots.tsx";
import { PortfolioChart } from "../parts/portfolio-chart.tsx";
import { type Reading, useReading } from "../resource.ts";

/** All at a glance: does it run, does it need me, what comes next, what do I have. */
export function OverviewPage() {
  const status = useReading("getStatus", "/status", { live: true });
  const portfolio = useReading("getPortfolio", "/portfolio", { live: true, everyMs: 30_000 });
  return (
    <Loaded reading={status}>
      {(value) => (
        <div class="stack">
          <Figures status={value} portfolio={portfolio} />
          <Attention status={value} />
          <div class="columns">
            <div class="stack">
              <NextSlots status={value} portfolio={portfolio.value} />
              <PortfolioChart />
              <LatestFills />
            </div>
            <div class="stack">
              <Left status={value} />
              <Weights portfolio={portfolio} />
              <LatestMoves />
            </div>
          </div>
        </div>
      )}
    </Loaded>
  );
}

interface FiguresProps {
  readonly status: Status;
  readonly portfolio: Reading<Portfolio>;
}

/** Swaps in these states are at their end. */
const ENDED = new Set(["final", "skipped", "denied", "reverted", "expired", "cancelled", "confirmed"]);

function openSwaps(status: Status): number {
  return Object.entries(status.swaps).reduce((sum, [state, count]) => (ENDED.has(state) ? sum : sum + count), 0);
}

function nextSlotOf(status: Status): string | undefined {
  const slots = status.strategies.flatMap(({ nextSlot }) => (nextSlot === null ? [] : [nextSlot]));
  return slots.sort()[0];
}

function Figures({ status, portfolio }: FiguresProps) {
  const { value } = portfolio;
  const next = nextSlotOf(status);
  const open = openSwaps(status);
  const isWell = status.healthy && status.ready;
  return (
    <section class="figures" aria-label="At a glance">
      <div class="figure">
        <span>Health</span>
        <strong>
          <Badge state={isWell ? "healthy" : status.healthy ? "not ready" : "ill"} tone={isWell ? "good" : "bad"} />{" "}
          <Badge state={status.operating} />
        </strong>
      </div>
      <div class="figure">
        <span>Value of the wallets</span>
        <strong>{value === undefined ? "…" : <Dollars value={value.totalUsd} />}</strong>
        {value !== undefined && value.missingPrices.length > 0 && (
          <small>without {value.missingPrices.join(", ")}: no price</small>
        )}
        {value !== undefined && value.missingBalances.length > 0 && (
          <small>without all {value.missingBalances.join(", ")}: a balance is not known</small>
        )}
        <Trouble reading={portfolio} what="The value" />
      </div>
      <div class="figure">
        <span>Next slot</span>
        <strong>{next === undefined ? "none" : <Countdown instant={next} />}</strong>
      </div>
      <div class="figure">
        <span>In flight</span>
        <strong>{plural(open, "swap")}</strong>
      </div>
      <fieldset class="buttons figure-buttons">
        <legend class="unseen">Everything</legend>
        <ModeButtons mode={status.operating} />
      </fieldset>
    </section>
  );
}

function Weights({ portfolio }: { readonly portfolio: Reading<Portfolio> }) {
  const mixes = portfolio.value?.mixes ?? [];
  if (mixes.length === 0) return null;
  return (
    <Card title="Weights">
      <Trouble reading={portfolio} />
      {mixes.map((mix) => (
        <MixBars mix={mix} key={mix.strategy} />
      ))}
    </Card>
  );
}

function Left({ status }: { readonly status: Status }) {
  const budgets = status.strategies.flatMap(({ id, budgets: own }) => own.map((budget) => ({ id, budget })));
  const MOST = 12;
  return (
    <Card title="Left of caps and budgets">
      <CapMeter name="Any 24 hours" cap={status.caps.day} />
      <CapMeter name="30 days" cap={status.caps.month} />
      {budgets.slice(0, MOST).map(({ id, budget }) => (
        <BudgetMeter budget={budget} strategy={id} key={`${id} ${budget.period} ${budget.token}`} />
      ))}
      {budgets.length > MOST && <p class="faint">and {budgets.length - MOST} more, on the pages of their strategies</p>}
      {budgets.length === 0 && <Empty>No strategy has a budget of its own; the policy's caps bound them all.</Empty>}
    </Card>
  );
}
