import type { Status, StrategyStatus } from "../answers.ts";
import { plural } from "../format/words.ts";
import { linkToStrategy } from "../route.ts";
import { Ago, Badge, Countdown, Table } from "./bits.tsx";
import { Card, Empty } from "./card.tsx";

const MOST = 50;

/** The ones that come next first; those without a next slot last. */
function inOrder(strategies: readonly StrategyStatus[]): readonly StrategyStatus[] {
  return [...strategies].sort((a, b) => (a.nextSlot ?? "z").localeCompare(b.nextSlot ?? "z"));
}

export function NextSlots({ status }: { readonly status: Status }) {
  const strategies = inOrder(status.strategies);
  return (
    <Card title="Next slots">
      {strategies.length === 0 ? (
        <Empty>
          There is no strategy. Put a YAML file into the folder of strategies; a running daemon takes it over by itself.
        </Empty>
      ) : (
        <Table caption="Next slots" head={["Strategy", "Next", "Mode", "Last", "Kind", "Runs"]}>
          {strategies.slice(0, MOST).map((strategy) => (
            <Row strategy={strategy} key={strategy.id} />
          ))}
        </Table>
      )}
      {strategies.length > MOST && (
        <p class="faint">and {plural(strategies.length - MOST, "strategy", "strategies")} with later slots</p>
      )}
    </Card>
  );
}

function Row({ strategy }: { readonly strategy: StrategyStatus }) {
  const { id, kind, mode, nextSlot, lastSlot, runs } = strategy;
  return (
    <tr>
      <th scope="row">
        <a href={linkToStrategy(id)}>{id}</a>
      </th>
      <td class="countdown">
        {nextSlot === null ? <span class="faint">none left</span> : <Countdown instant={nextSlot} />}
      </td>
      <td>
        <Badge state={mode} />
      </td>
      <td>{lastSlot === null ? <span class="faint">never</span> : <Ago instant={lastSlot} />}</td>
      <td>{kind}</td>
      <td>{runsText(runs)}</td>
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
