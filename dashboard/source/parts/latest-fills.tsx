import type { Fill } from "../answers.ts";
import { basisPoints } from "../format/decimal.ts";
import { useReading } from "../resource.ts";
import { linkToRun, linkToStrategy } from "../route.ts";
import { Ago, Amount, Table } from "./bits.tsx";
import { Card, Empty, Loaded } from "./card.tsx";

interface LatestFillsProps {
  /** of this strategy alone */
  readonly strategy?: string;
}

export function LatestFills({ strategy }: LatestFillsProps) {
  const of = strategy === undefined ? "" : `&strategy=${encodeURIComponent(strategy)}`;
  const fills = useReading("listFills", `/fills?limit=10${of}`, { live: true, everyMs: 60_000 });
  return (
    <Card title="Latest fills">
      <Loaded reading={fills}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>Nothing was exchanged yet. A fill stands here as soon as its block is confirmed.</Empty>
          ) : (
            <Table
              caption="Latest fills"
              class="folded"
              head={["When", ...(strategy === undefined ? ["Strategy"] : []), "#Sold", "#Bought", "#Against ref."]}
            >
              {items.map((fill) => (
                <Row fill={fill} isNamed={strategy === undefined} key={fill.swap} />
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  );
}

function Row({ fill, isNamed }: { readonly fill: Fill; readonly isNamed: boolean }) {
  return (
    <tr>
      <td class={isNamed ? "second" : "first"}>
        <a href={linkToRun(fill.run)}>
          <Ago instant={fill.at} />
        </a>
      </td>
      {isNamed && (
        <td class="first">
          <a href={linkToStrategy(fill.strategy)}>{fill.strategy}</a>
        </td>
      )}
      <td class="number below">
        <Amount money={fill.sold} />
      </td>
      <td class="number below" data-what="for">
        <Amount money={fill.bought} />
      </td>
      <td class="number below">{fill.againstReference === null ? "–" : basisPoints(fill.againstReference)}</td>
    </tr>
  );
}
