import type { Status } from "../answers.ts";
import { type Concern, concernsOf } from "../model/concerns.ts";
import { linkToRun, linkToStrategy } from "../route.ts";
import { ActionButton } from "./action-buttons.tsx";
import { Ago } from "./bits.tsx";
import { Card } from "./card.tsx";

/** What a person should look at, the worst first, with what he can do about it. */
export function Attention({ status }: { readonly status: Status }) {
  const concerns = concernsOf(status);
  return (
    <Card title="Needs attention" class={concerns[0]?.tone ?? "fine"}>
      {concerns.length === 0 ? (
        <p class="all-well">
          Nothing needs you. Checked <Ago instant={status.at} />.
        </p>
      ) : (
        <>
          <Lines concerns={concerns.filter(isShown)} />
          {concerns.some(isMore) && (
            <details>
              <summary>and {concerns.filter(isMore).length} more</summary>
              <Lines concerns={concerns.filter(isMore)} />
            </details>
          )}
        </>
      )}
    </Card>
  );
}

/** The worst in full, and all that can be done something about here: what comes next must not be a long way down. */
const MOST_IN_FULL = 3;

function isShown({ offer }: Concern, place: number): boolean {
  return place < MOST_IN_FULL || offer !== undefined;
}

function isMore(concern: Concern, place: number): boolean {
  return !isShown(concern, place);
}

function Lines({ concerns }: { readonly concerns: readonly Concern[] }) {
  return (
    <ul class="concerns">
      {concerns.map((concern) => (
        <Line concern={concern} key={`${concern.title} ${concern.since} ${concern.run}`} />
      ))}
    </ul>
  );
}

function Line({ concern }: { readonly concern: Concern }) {
  const { tone, title, text, since, strategy, run } = concern;
  return (
    <li class={tone}>
      <p>
        <strong>{title}</strong>{" "}
        {since !== undefined && (
          <span class="faint">
            since <Ago instant={since} />
          </span>
        )}
      </p>
      <p>{text}</p>
      <p class="buttons">
        {run !== undefined && <a href={linkToRun(run)}>Look at the run</a>}
        {run === undefined && strategy !== undefined && <a href={linkToStrategy(strategy)}>Look at {strategy}</a>}
        <Offer concern={concern} />
      </p>
    </li>
  );
}

function Offer({ concern }: { readonly concern: Concern }) {
  const { offer, run, strategy } = concern;
  if (offer === "resume") return <ActionButton body={{ action: "resume" }} text="Resume" target="everything" />;
  if (offer === "resume-strategy" && strategy !== undefined) {
    return <ActionButton body={{ action: "resume", strategy }} text="Resume" target={strategy} />;
  }
  if (offer !== "answer" || run === undefined) return null;
  const target = `run ${run} of ${strategy ?? "a strategy"}`;
  return (
    <>
      <ActionButton body={{ action: "approve", run }} text="Approve" target={target} class="primary" />
      <ActionButton body={{ action: "refuse", run }} text="Refuse" target={target} />
    </>
  );
}
