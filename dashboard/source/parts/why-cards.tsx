import { useState } from "preact/hooks";
import type { AnswerOf } from "../answers.ts";
import { ask } from "../api.ts";
import { inWords } from "../format/words.ts";
import { textOf } from "../model/problem.ts";
import { linkToRun } from "../route.ts";
import { Ago, Amount, At, Badge } from "./bits.tsx";
import { Card } from "./card.tsx";
import { CheckTable } from "./check-table.tsx";

type Next = AnswerOf<"getWhyNext">;
type Why = AnswerOf<"getWhy">;
type Asking<T> =
  | { readonly kind: "none" | "asking" }
  | { readonly kind: "trouble"; readonly text: string }
  | { readonly kind: "known"; readonly value: T };

function useQuestion<T>(): [Asking<T>, (question: () => Promise<T>) => void] {
  const [state, setState] = useState<Asking<T>>({ kind: "none" });
  const put = (question: () => Promise<T>): void => {
    setState({ kind: "asking" });
    question().then(
      (value) => setState({ kind: "known", value }),
      (error: unknown) => setState({ kind: "trouble", text: textOf(error) }),
    );
  };
  return [state, put];
}

function Trouble({ state }: { readonly state: Asking<unknown> }) {
  if (state.kind === "asking") return <p role="status">Asking; it looks at the service and the chain…</p>;
  if (state.kind !== "trouble") return null;
  return (
    <p class="trouble" role="alert">
      {state.text}
    </p>
  );
}

/** What the next slot would do if it were now. */
export function WhyNextCard({ id }: { readonly id: string }) {
  const [state, put] = useQuestion<Next>();
  return (
    <Card
      title="What would it do now?"
      aside={
        <button
          type="button"
          disabled={state.kind === "asking"}
          onClick={() => put(() => ask("getWhyNext", `/strategies/${encodeURIComponent(id)}/next`))}
        >
          Ask
        </button>
      }
    >
      {state.kind === "none" && (
        <p class="faint">Plays the next slot through with today's prices and quotes. Nothing is signed.</p>
      )}
      <Trouble state={state} />
      {state.kind === "known" && <NextAnswer next={state.value} />}
    </Card>
  );
}

function NextAnswer({ next }: { readonly next: Next }) {
  return (
    <div role="status">
      <p>
        {next.state !== null && <Badge state={next.state} />}{" "}
        <strong>{inWords(next.verdict ?? next.reason ?? "")}</strong>
        {next.slot !== null && (
          <span class="faint">
            {" "}
            next slot <Ago instant={next.slot} />
          </span>
        )}
      </p>
      {next.reason !== null && next.verdict !== null && <p>{inWords(next.reason)}</p>}
      {next.detail !== null && <p class="faint">{next.detail}</p>}
      {next.swaps.map((swap, place) => (
        <div key={`${swap.sell.symbol} ${swap.buy.symbol} ${place}`}>
          <p>
            {swap.amount === null ? swap.sell.symbol : <Amount money={swap.amount} />} →{" "}
            {swap.expected === null ? swap.buy.symbol : <Amount money={swap.expected} />} {swap.mode ?? ""}{" "}
            <Badge state={swap.state} /> {swap.reason !== null && inWords(swap.reason)}
          </p>
          <CheckTable checks={swap.checks} />
        </div>
      ))}
    </div>
  );
}

/** What it did at any instant, and why. */
export function WhyAtCard({ id }: { readonly id: string }) {
  const [state, put] = useQuestion<Why>();
  const [when, setWhen] = useState("");
  const send = (): void => {
    const date = new Date(when);
    const at = Number.isNaN(date.getTime()) ? "" : `?at=${encodeURIComponent(date.toISOString())}`;
    put(() => ask("getWhy", `/strategies/${encodeURIComponent(id)}/why${at}`));
  };
  return (
    <Card title="Why at that time?">
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <label>
          At or after the slot, by your clock; empty for now
          <input type="datetime-local" step={1} value={when} onInput={(event) => setWhen(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={state.kind === "asking"}>
          Ask
        </button>
      </form>
      <Trouble state={state} />
      {state.kind === "known" && <WhyAnswer why={state.value} />}
    </Card>
  );
}

function WhyAnswer({ why }: { readonly why: Why }) {
  const { run, gap, standing } = why;
  return (
    <div role="status">
      {run !== null && (
        <p>
          Slot <At instant={run.run.slot} />: <Badge state={run.run.state} />{" "}
          {run.run.reason !== null && inWords(run.run.reason)}{" "}
          {run.run.detail !== null && <span class="faint">{run.run.detail}</span>}{" "}
          <a href={linkToRun(run.run.id)}>All of it</a>
        </p>
      )}
      {gap !== null && (
        <p>
          {gap.count} slots from <At instant={gap.first} /> to <At instant={gap.last} /> have no record of their own:{" "}
          {inWords(gap.reason)}
        </p>
      )}
      {run === null && gap === null && <p>No slot is known at or before that time.</p>}
      {standing.map(({ code, text }) => (
        <p key={code} class="faint">
          true now: {text}
        </p>
      ))}
    </div>
  );
}
