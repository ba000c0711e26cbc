import { useReading } from "../resource.ts";
import { linkToRun } from "../route.ts";
import { Ago, Badge, Hex, Table } from "./bits.tsx";
import { Card, Empty, Loaded } from "./card.tsx";

/** What owners of a Safe are asked to sign. */
export function ProposalsCard() {
  const reading = useReading("listProposals", "/proposals", { live: true });
  return (
    <Card title="Proposals to Safes" class="broad">
      <Loaded reading={reading}>
        {({ proposals }) =>
          proposals.length === 0 ? (
            <Empty>None is open. A wallet that is a Safe asks its owners here.</Empty>
          ) : (
            <Table caption="Proposals" head={["Run", "Safe", "#Nonce", "Hash to sign", "State", "Until"]}>
              {proposals.map((one) => (
                <tr key={one.swap}>
                  <td>
                    <a href={linkToRun(one.run)}>{one.strategy}</a>
                  </td>
                  <td>
                    <Hex text={one.safe} kind="address" />
                  </td>
                  <td class="number">{one.nonce}</td>
                  <td>{one.hash === null ? <span class="faint">not made yet</span> : <code>{one.hash}</code>}</td>
                  <td>
                    <Badge state={one.state} />
                  </td>
                  <td>{one.deadline === null ? "–" : <Ago instant={one.deadline} />}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  );
}
