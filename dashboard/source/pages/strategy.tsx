import type { Strategy } from "../answers.ts";
import { plural } from "../format/words.ts";
import { ActionButton, ModeButtons } from "../parts/action-buttons.tsx";
import { Badge, Countdown } from "../parts/bits.tsx";
import { BudgetMeter } from "../parts/budgets.tsx";
import { Card, Empty, Loaded, Trouble } from "../parts/card.tsx";
import { LastRuns } from "../parts/last-runs.tsx";
import { LatestFills } from "../parts/latest-fills.tsx";
import { MixBars } from "../parts/mix-bars.tsx";
import { PriceCard } from "../parts/price-card.tsx";
import { StrategyFile } from "../parts/strategy-file.tsx";
import { WhyAtCard, WhyNextCard } from "../parts/why-cards.tsx";
import { useReading } from "../resource.ts";

/** One strategy: what it watches, did, will do, and why. */
export function StrategyPage({ id }: { readonly id: string }) {
  const name = encodeURIComponent(id);
  const reading = useReading("getStrategy", `/strategies/${name}`, { live: true, everyMs: 30_000 });
  // One that no file names now has its runs still.
  if (reading.value === undefined && reading.trouble !== undefined)
    return (
      <div class="stack">
        <Trouble reading={reading} />
        <LastRuns strategy={id} />
      </div>
    );
  return (
    <Loaded reading={reading}>
      {(strategy) => (
        <div class="stack">
          <Standing strategy={strategy} />
          <div class="columns">
            <div class="stack">
              <PriceCard strategy={strategy} />
              <LastRuns strategy={id} />
              <StrategyFile strategy={strategy} />
            </div>
            <div class="stack">
              <Budgets strategy={strategy} />
              {strategy.kind === "rebalance" && <Mixes id={id} />}
              <LatestFills strategy={id} />
              <WhyNextCard id={id} />
              <WhyAtCard id={id} />
            </div>
          </div>
        </div>
      )}
    </Loaded>
  );
}

function Standing({ strategy }: { readonly strategy: Strategy }) {
  const { id, kind, wallet, sells, buys, mode, nextSlots } = strategy;
  return (
    <section class="figures" aria-label="At a glance">
      <div class="figure">
        <span>Mode</span>
        <strong>
          <Badge state={mode} />
        </strong>
      </div>
      <div class="figure">
        <span>Kind</span>
        <strong>{kind}</strong>
        <small>wallet {wallet}</small>
      </div>
      <div class="figure">
        <span>Sells → buys</span>
        <strong class="pair">
          {sells.map(({ symbol }) => symbol).join(", ")} → {buys.map(({ symbol }) => symbol).join(", ")}
        </strong>
      </div>
      <div class="figure">
        <span>Next slot</span>
        <strong>{nextSlots[0] === undefined ? "none" : <Countdown instant={nextSlots[0]} />}</strong>
        {nextSlots.length > 1 && <small>{plural(nextSlots.length - 1, "further one")} planned</small>}
      </div>
      <fieldset class="buttons figure-buttons">
        <legend class="unseen">{id}</legend>
        <ActionButton body={{ action: "run", strategy: id }} text="Run now" target={id} />
        <ActionButton body={{ action: "skip", strategy: id }} text="Skip next" target={id} />
        <ModeButtons mode={mode} strategy={id} />
      </fieldset>
    </section>
  );
}

function Mixes({ id }: { readonly id: string }) {
  const portfolio = useReading("getPortfolio", "/portfolio", { live: true, everyMs: 30_000 });
  return (
    <Card title="Weights">
      <Loaded reading={portfolio}>
        {({ mixes }) =>
          mixes.filter(({ strategy }) => strategy === id).map((mix) => <MixBars mix={mix} key={mix.strategy} />)
        }
      </Loaded>
    </Card>
  );
}

function Budgets({ strategy }: { readonly strategy: Strategy }) {
  return (
    <Card title="Budget">
      {strategy.budgets.length === 0 ? (
        <Empty>
          It has no budget of its own. What it may sell is bounded by the policy and by what the wallet holds.
        </Empty>
      ) : (
        strategy.budgets.map((budget) => <BudgetMeter budget={budget} key={`${budget.period} ${budget.token}`} />)
      )}
      {strategy.status.sold.map(({ token, amount }) => (
        <p class="faint" key={token}>
          {amount} {token} sold and reserved over its life
        </p>
      ))}
    </Card>
  );
}
