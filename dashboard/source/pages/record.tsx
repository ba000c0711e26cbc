import { Ago, Badge, Table } from "../parts/bits.tsx";
import { Card, Empty, Loaded } from "../parts/card.tsx";
import { useReading } from "../resource.ts";

/** Who asked for what and why, and what the independent audit found. */
export function RecordPage() {
  return (
    <div class="grid">
      <AuditCard />
      <ActionsCard />
    </div>
  );
}

function AuditCard() {
  const audit = useReading("getAudit", "/audit", { live: true });
  return (
    <Card title="Last audit" class="broad">
      <Loaded reading={audit}>
        {({ last }) =>
          last === null ? (
            <Empty>
              None was recorded. <code>swapd audit</code> compares database and chain by a reader of its own.
            </Empty>
          ) : (
            <>
              <p>
                <Badge
                  state={last.clean ? "clean" : `${last.differences} differences`}
                  tone={last.clean ? "good" : "bad"}
                />{" "}
                <Ago instant={last.at} />
              </p>
              <p>{last.text}</p>
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function ActionsCard() {
  const actions = useReading("listActions", "/actions?limit=200", { live: true, everyMs: 30_000 });
  return (
    <Card title="What people asked for" class="broad">
      <Loaded reading={actions}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              Nobody asked for anything yet: no run, no pause, no halt. Each request stays here, with who and why.
            </Empty>
          ) : (
            <Table caption="What people asked for" head={["When", "Who", "What", "On", "Why", "State", "Answer"]}>
              {items.map((one) => (
                <tr key={one.id}>
                  <td>
                    <Ago instant={one.at} />
                  </td>
                  <td>{one.by}</td>
                  <td>{one.action}</td>
                  <td>{one.target}</td>
                  <td class="text">{one.reason ?? <span class="faint">no reason given</span>}</td>
                  <td>
                    <Badge state={one.state} />
                  </td>
                  <td class="text">{one.answer}</td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  );
}
