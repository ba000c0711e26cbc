import type { RunDetails, Swap } from "../answers.ts";
import { basisPoints, shorten } from "../format/decimal.ts";
import { inWords } from "../format/words.ts";
import { ActionButton } from "../parts/action-buttons.tsx";
import { Ago, Amount, At, Badge, Dollars, Hex, Table } from "../parts/bits.tsx";
import { Card, Empty, Loaded } from "../parts/card.tsx";
import { CheckTable } from "../parts/check-table.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { useReading } from "../resource.ts";
import { linkToStrategy } from "../route.ts";

/** One run with its swaps: what happened, what was checked, what it cost. */
export function RunPage({ id }: { readonly id: string }) {
  const reading = useReading("getRun", `/runs/${encodeURIComponent(id)}`, { live: true, everyMs: 30_000 });
  const waiting = useReading("getStatus", "/status", { live: true }).value?.waiting ?? [];
  return (
    <Loaded reading={reading}>
      {(details) => {
        const { run } = details;
        const isWaiting = waiting.some((one) => one.run === run.id);
        return (
          <div class="stack">
            <Card title={`${run.strategy}, ${run.slot.replace("T", " ").slice(0, 19)} UTC`} class="broad">
              <p>
                <Badge state={run.state} /> {run.reason !== null && inWords(run.reason)}{" "}
                {run.detail !== null && <span class="faint">{run.detail}</span>}
              </p>
              <p class="faint">
                <a href={linkToStrategy(run.strategy)}>{run.strategy}</a>, run <code>{run.id}</code>
                {run.endedAt !== null && (
                  <>
                    , ended <Ago instant={run.endedAt} />
                  </>
                )}
              </p>
              {isWaiting && (
                <p class="buttons">
                  <ActionButton
                    body={{ action: "approve", run: run.id }}
                    text="Approve"
                    target={run.id}
                    class="primary"
                  />
                  <ActionButton body={{ action: "refuse", run: run.id }} text="Refuse" target={run.id} />
                </p>
              )}
            </Card>
            <Timeline details={details} />
            {run.swaps.map((swap) => (
              <SwapCards swap={swap} details={details} key={swap.id} />
            ))}
            {run.swaps.length === 0 && (
              <Card title="Swaps">
                <Empty>This run made no swap{run.reason === null ? "" : `: ${inWords(run.reason)}`}.</Empty>
              </Card>
            )}
            <Retries details={details} />
          </div>
        );
      }}
    </Loaded>
  );
}

function SwapCards({ swap, details }: { readonly swap: Swap; readonly details: RunDetails }) {
  const more = details.swaps.find(({ id }) => id === swap.id);
  return (
    <div class="columns">
      <div class="stack">
        <Transactions transactions={more?.transactions ?? []} swap={swap} />
        <Card title={`Checks of ${swap.sell.symbol} → ${swap.buy.symbol}`}>
          <CheckTable checks={more?.checks ?? []} />
        </Card>
      </div>
      <div class="stack first">
        <SwapCard swap={swap} />
      </div>
    </div>
  );
}

function Bp({ value }: { readonly value: string | null }) {
  if (value === null) return <span class="faint">not known yet</span>;
  return <span class={value.startsWith("-") ? "worse" : "better"}>{basisPoints(value)}</span>;
}

function SwapCard({ swap }: { readonly swap: Swap }) {
  const rows: readonly (readonly [string, preact.ComponentChildren])[] = [
    ["Mode", swap.mode ?? "not chosen yet"],
    ["To sell", swap.asked === null ? "–" : <Amount money={swap.asked} digits={10} />],
    ["Quoted", swap.quoted === null ? "–" : <Amount money={swap.quoted} digits={10} />],
    ["At least", swap.minimum === null ? "–" : <Amount money={swap.minimum} digits={10} />],
    ["Sold", swap.sold === null ? "–" : <Worth money={swap.sold} usd={swap.soldUsd} />],
    ["Received", swap.bought === null ? "–" : <Worth money={swap.bought} usd={swap.boughtUsd} />],
    ["Price", swap.price === null ? "–" : `${shorten(swap.price, 8)} ${swap.sell.symbol} for 1 ${swap.buy.symbol}`],
    ["Against the quote", <Bp value={swap.againstQuote} key="quote" />],
    ["Against the reference", <Bp value={swap.againstReference} key="reference" />],
    ...swap.fees.map(
      ({ to, amount, usd }) => [`Fee to the ${to}`, <Worth money={amount} usd={usd} key={to} />] as const,
    ),
    ["Gas", swap.gas === null ? "none of ours" : <Worth money={swap.gas} usd={swap.gasUsd} />],
    ["Wallet", <Hex text={swap.wallet} kind="address" key="wallet" />],
    ...(swap.recipient === swap.wallet
      ? []
      : [["Recipient", <Hex text={swap.recipient} kind="address" key="to" />] as const]),
    ...(swap.hash === null ? [] : [["Transaction", <Hex text={swap.hash} kind="tx" key="hash" />] as const]),
  ];
  return (
    <Card title={`${swap.sell.symbol} → ${swap.buy.symbol}`} aside={<Badge state={swap.state} />}>
      {swap.reason !== null && <p>{inWords(swap.reason)}</p>}
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Worth({ money, usd }: { readonly money: Parameters<typeof Amount>[0]["money"]; readonly usd: string | null }) {
  return (
    <>
      <Amount money={money} digits={10} />{" "}
      {usd !== null && (
        <span class="faint">
          <Dollars value={usd} />
        </span>
      )}
    </>
  );
}

interface TransactionsProps {
  readonly transactions: RunDetails["swaps"][number]["transactions"];
  readonly swap: Swap;
}

function Transactions({ transactions, swap }: TransactionsProps) {
  return (
    <Card title="Transactions" class="broad">
      {transactions.length === 0 ? (
        <Empty>
          {swap.mode === "gasless"
            ? "None of ours: the relayer sends it and pays its gas."
            : "None was mined for this swap yet."}
        </Empty>
      ) : (
        <Table
          caption="Transactions"
          head={["Hash", "For", "Kind", "Sent", "Result", "Block", "When", "#Gas", "#Cost"]}
        >
          {transactions.map((one) => (
            <tr key={one.hash}>
              <td>
                <Hex text={one.hash} kind="tx" />
              </td>
              <td>{one.purpose}</td>
              <td>{one.kind}</td>
              <td>{one.visibility}</td>
              <td>
                <Badge state={one.succeeded ? "succeeded" : "reverted"} tone={one.succeeded ? "good" : "bad"} />
              </td>
              <td>{one.block}</td>
              <td>
                <At instant={one.at} />
              </td>
              <td class="number">{one.gasUsed}</td>
              <td class="number">
                {one.costUsd === null ? <Amount money={one.cost} /> : <Dollars value={one.costUsd} />}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function Retries({ details }: { readonly details: RunDetails }) {
  if (details.retries.length === 0) return null;
  return (
    <Card title="Asked again" class="broad">
      <Table caption="Asked again" head={["Reason", "#Times", "First", "Last", "Detail"]}>
        {details.retries.map((retry) => (
          <tr key={`${retry.swap} ${retry.reason}`}>
            <th scope="row">{retry.reason}</th>
            <td class="number">{retry.count}</td>
            <td>
              <At instant={retry.firstAt} />
            </td>
            <td>
              <At instant={retry.lastAt} />
            </td>
            <td class="text">{retry.detail}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
