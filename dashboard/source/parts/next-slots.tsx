import type { Portfolio, Status, StrategyStatus } from "../answers.ts";
import { plural } from "../format/words.ts";
import { type Gain, gainsOf } from "../model/gains.ts";
import { useReading } from "../resource.ts";
import { linkToStrategy } from "../route.ts";
import { Ago, Badge, Countdown, Table } from "./bits.tsx";
import { Card, Empty } from "./card.tsx";

const MOST = 50;

/** The ones that come next first; those without a next slot last. */
function inOrder(strategies: readonly StrategyStatus[]): readonly StrategyStatus[] {
  return [...strategies].sort((a, b) => (a.nextSlot ?? "z").localeCompare(b.nextSlot ?? "z"));
}

const FILLS = 1_000;

interface NextSlotsProps {
  readonly status: Status;
  readonly portfolio: Portfolio | undefined;
}

export function NextSlots({ status, portfolio }: NextSlotsProps) {
  const strategies = inOrder(status.strategies);
  const fills = useReading("listFills", `/fills?limit=${FILLS}`, { live: true, everyMs: 60_000 });
  const prices = (portfolio?.holdings ?? []).flatMap(({ money, priceUsd }) =>
    priceUsd === null ? [] : [[money.address, Number(priceUsd)] as const],
  );
  const gains = gainsOf(fills.value?.items ?? [], new Map(prices));
  return (
    <Card title="Next slots">
      {strategies.length === 0 ? (
        <Empty>
          There is no strategy. Put a YAML file into the folder of strategies; a running daemon takes it over by itself.
        </Empty>
      ) : (
        <Table caption="Next slots" class="folded" head={["Strategy", "Next", "Swaps since", "Mode", "Last", "Runs"]}>
          {strategies.slice(0, MOST).map((strategy) => (
            <Row strategy={strategy} gain={gains.get(strategy.id)} key={strategy.id} />
          ))}
        </Table>
      )}
      {strategies.length > MOST && (
        <p class="faint">and {plural(strategies.length - MOST, "strategy", "strategies")} with later slots</p>
      )}
    </Card>
  );
}

interface RowProps {
  readonly strategy: StrategyStatus;
  readonly gain: Gain | undefined;
}

function Row({ strategy, gain }: RowProps) {
  const { id, kind, mode, inForce, nextSlot, lastSlot, runs } = strategy;
  return (
    <tr>
      <th scope="row" class="first">
        <a href={linkToStrategy(id)}>{id}</a>
        <br />
        <small class="faint">{kind}</small>
      </th>
      <td class="countdown second">
        {nextSlot === null ? <span class="faint">none left</span> : <Countdown instant={nextSlot} />}
      </td>
      <td class="below" data-what="swaps">
        {gain === undefined ? (
          <span class="faint">–</span>
        ) : (
          <span
            class={`amount ${gain.usd < 0 ? "worse" : "better"}`}
            title={`${gain.usd.toFixed(2)} USD: what its newest swaps brought, at prices of now, against none of them, without gas`}
          >
            {gain.percent < 0 ? "" : "+"}
            {gain.percent.toFixed(2)} %
          </span>
        )}
      </td>
      <td class="below">
        <Badge state={inForce ? mode : "not in force"} />
      </td>
      <td class="below" data-what="last">
        {lastSlot === null ? <span class="faint">never</span> : <Ago instant={lastSlot} />}
      </td>
      <td class="less">{runsText(runs)}</td>
    </tr>
  );
}

function runsText(runs: StrategyStatus["runs"]): string {
  const words = Object.entries(runs)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([state, count]) => `${count} ${state}`);
  return words.length === 0 ? "none yet" : words.slice(0, 2).join(", ");
}
