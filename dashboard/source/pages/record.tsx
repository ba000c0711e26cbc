import type { AnswerOf } from "../answers.ts";
import { clockTime } from "../format/time.ts";
import { inWords } from "../format/words.ts";
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
  const audit = useReading("getAudit", "/audit", { everyMs: 60_000 });
  return (
    <Card title="Last audit" class="broad">
      <Loaded reading={audit}>
        {({ last, whole, recent }) =>
          last === null ? (
            <Empty>
              None was made. <code>swapd audit</code> compares database and chain by a reader of its own, and notes here
              what it found.
            </Empty>
          ) : (
            <>
              <AuditLine audit={last} />
              {last.findings.map(({ code, subject, message }) => (
                <p key={`${code} ${subject}`} class="text">
                  <strong>{inWords(code)}</strong>: {message}
                </p>
              ))}
              {last.findings.length < last.differences && <p>The first {last.findings.length} of them.</p>}
              {whole === null ? (
                <p class="faint">
                  No audit looked at everything yet: <code>swapd audit</code> without --since does.
                </p>
              ) : (
                whole.at !== last.at && <AuditLine audit={whole} />
              )}
              {recent.some(({ clean }) => !clean) && last.clean && (
                <p class="faint">
                  Of the newest {recent.length}, {recent.filter(({ clean }) => !clean).length} found differences.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

type Audited = AnswerOf<"getAudit">["recent"][number];

function AuditLine({
  audit: { at, by, clean, differences, from, fromBlock, toBlock, text },
}: {
  readonly audit: Audited;
}) {
  const since =
    from === null ? (fromBlock === null ? "everything" : `from block ${fromBlock}`) : `since ${clockTime(from)}`;
  return (
    <p>
      <Badge
        state={clean ? "clean" : `${differences} difference${differences === 1 ? "" : "s"}`}
        tone={clean ? "good" : "bad"}
      />{" "}
      <Ago instant={at} /> by {by}: {since} up to block {toBlock} ({text})
    </p>
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
