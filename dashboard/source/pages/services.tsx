import type { AnswerOf } from "../answers.ts";
import { basisPoints } from "../format/decimal.ts";
import { inWords } from "../format/words.ts";
import { Ago, Badge, Hex, Table } from "../parts/bits.tsx";
import { Card, Empty, Loaded } from "../parts/card.tsx";
import { ProposalsCard } from "../parts/proposals-card.tsx";
import { useReading } from "../resource.ts";

type Services = AnswerOf<"getServices">;

/** What the daemon asks outside, and how well it is served. */
export function ServicesPage() {
  const services = useReading("getServices", "/services", { live: true, everyMs: 30_000 });
  return (
    <Loaded reading={services}>
      {(value) => (
        <div class="grid">
          <ServiceCard services={value} />
          <QualityCard services={value} />
          <EndpointsCard services={value} />
          <ProposalsCard />
          <TransactionsCard />
        </div>
      )}
    </Loaded>
  );
}

function ServiceCard({ services }: { readonly services: Services }) {
  const { profile, host, ready, reason, since, spender, target, further } = services.service;
  return (
    <Card title="Swap service" aside={<Badge state={ready ? "ready" : "not ready"} tone={ready ? "good" : "bad"} />}>
      {reason !== null && <p>{reason}</p>}
      <dl class="facts">
        <div>
          <dt>Profile</dt>
          <dd>{profile}</dd>
        </div>
        <div>
          <dt>Host</dt>
          <dd>{host}</dd>
        </div>
        {since !== null && (
          <div>
            <dt>Since</dt>
            <dd>
              <Ago instant={since} />
            </dd>
          </div>
        )}
        <div>
          <dt>May take tokens</dt>
          <dd>{spender === null ? "nobody" : <Hex text={spender} kind="address" />}</dd>
        </div>
        <div>
          <dt>Called contract</dt>
          <dd>{target === null ? "none" : <Hex text={target} kind="address" />}</dd>
        </div>
        {further.map((one) => (
          <div key={one.target}>
            <dt>Or, where its quote says so</dt>
            <dd>
              <Hex text={one.target} kind="address" />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function QualityCard({ services }: { readonly services: Services }) {
  const { fills, againstQuote } = services;
  return (
    <Card title="Received against quoted">
      {againstQuote === null ? (
        <Empty>
          No fill can be compared yet. After the first swap it stands here how well the service kept its word.
        </Empty>
      ) : (
        <>
          <dl class="facts">
            <div>
              <dt>Median</dt>
              <dd>{basisPoints(againstQuote.median)}</dd>
            </div>
            <div>
              <dt>Worst</dt>
              <dd>{basisPoints(againstQuote.worst)}</dd>
            </div>
            <div>
              <dt>Best</dt>
              <dd>{basisPoints(againstQuote.best)}</dd>
            </div>
          </dl>
          <p class="faint">Of the newest {fills} fills; a minus is worse for the wallet than what was quoted.</p>
        </>
      )}
    </Card>
  );
}

const ABILITY = { able: "yes", lacking: "no", unknown: "not known" } as const;

function EndpointsCard({ services }: { readonly services: Services }) {
  const { endpoints, submit } = services;
  return (
    <Card title="Endpoints of the network" class="broad">
      <Table caption="Endpoints" head={["Host", "What it can do"]}>
        {endpoints.map(({ host, abilities }, place) => (
          <tr key={`${host} ${place}`}>
            <th scope="row">{host}</th>
            <td class="text abilities">
              {Object.entries(abilities).map(([name, can]) => (
                <Badge
                  key={name}
                  state={`${inWords(name)}: ${ABILITY[can]}`}
                  tone={can === "able" ? "good" : can === "lacking" ? "calm" : "warn"}
                />
              ))}
              {Object.keys(abilities).length === 0 && <span class="faint">not asked yet</span>}
            </td>
          </tr>
        ))}
      </Table>
      <p class="faint">
        {submit.length === 0
          ? "Transactions are sent to these endpoints, where everybody can see them."
          : `Transactions are sent privately to ${submit.join(", ")}.`}
      </p>
    </Card>
  );
}

function TransactionsCard() {
  const reading = useReading("listTransactions", "/transactions?limit=20", { live: true });
  return (
    <Card title="Transactions of the wallets" class="broad">
      <Loaded reading={reading}>
        {({ transactions }) =>
          transactions.length === 0 ? (
            <Empty>None yet. Gasless swaps need none of ours.</Empty>
          ) : (
            <Table caption="Transactions" head={["Made", "For", "State", "#Nonce", "Block", "Newest hash"]}>
              {transactions.map((one) => (
                <tr key={one.id}>
                  <td>
                    <Ago instant={one.createdAt} />
                  </td>
                  <td>{one.purpose}</td>
                  <td>
                    <Badge state={one.state} /> {one.outcome}
                  </td>
                  <td class="number">{one.nonce ?? "–"}</td>
                  <td>{one.block ?? "–"}</td>
                  <td>
                    <Newest hash={one.attempts.at(-1)?.hash} />
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

function Newest({ hash }: { readonly hash: string | undefined }) {
  return hash === undefined ? <span class="faint">not signed</span> : <Hex text={hash} kind="tx" />;
}
