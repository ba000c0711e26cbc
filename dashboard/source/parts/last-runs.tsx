import { inWords } from "../format/words.ts";
import { useReading } from "../resource.ts";
import { linkToRun } from "../route.ts";
import { At, Badge, Table } from "./bits.tsx";
import { Card, Empty, Loaded } from "./card.tsx";
import { swapText } from "./run-row.tsx";

/** The last slots of a strategy with their reasons. */
export function LastRuns({ strategy }: { readonly strategy: string }) {
  const name = encodeURIComponent(strategy);
  const runs = useReading("listRuns", `/runs?strategy=${name}&limit=12`, { live: true, everyMs: 60_000 });
  return (
    <Card title="Last slots" aside={<a href="#/history">All</a>}>
      <Loaded reading={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>It had no slot yet. Each one leaves a record here, with a reason when nothing was traded.</Empty>
          ) : (
            <Table caption="Last slots" head={["Slot", "Ended", "What came of it"]}>
              {items.map((run) => (
                <tr key={run.id}>
                  <td>
                    <a href={linkToRun(run.id)}>
                      <At instant={run.slot} />
                    </a>
                  </td>
                  <td>
                    <Badge state={run.state} />
                  </td>
                  <td class="text">
                    {run.swaps.map((swap) => (
                      <div key={swap.id}>{swapText(swap)}</div>
                    ))}
                    {run.reason !== null && <div>{inWords(run.reason)}</div>}
                    {run.detail !== null && <div class="faint">{run.detail}</div>}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  );
}
