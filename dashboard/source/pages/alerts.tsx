import { useState } from "preact/hooks";
import type { Alert } from "../answers.ts";
import { inWords } from "../format/words.ts";
import { worstFirst } from "../model/concerns.ts";
import { Ago, Badge } from "../parts/bits.tsx";
import { Card, Empty, Loaded } from "../parts/card.tsx";
import { useReading } from "../resource.ts";
import { linkToRun, linkToStrategy } from "../route.ts";

/** What is true now and somebody should know, and what was. */
export function AlertsPage() {
  return (
    <div class="grid">
      <Alerts title="Open" state="open">
        No alert is open.
      </Alerts>
      <Alerts title="Past" state="past">
        Nothing was said yet. Alerts that are over, and messages, are kept here.
      </Alerts>
      <Channels />
    </div>
  );
}

interface AlertsProps {
  readonly title: string;
  readonly state: "open" | "past";
  readonly children: string;
}

const STEP = 50;
/** As many as are answered at once. */
const MOST = 500;

function Alerts({ title, state, children }: AlertsProps) {
  const [count, setCount] = useState(STEP);
  // Of what is open the worst may be the oldest.
  const limit = state === "open" ? MOST : count;
  const reading = useReading("listAlerts", `/alerts?state=${state}&limit=${limit}`, { live: true, everyMs: 60_000 });
  return (
    <Card title={title} class="broad">
      <Loaded reading={reading}>
        {({ items, next }) => (
          <>
            {items.length === 0 && <Empty>{children}</Empty>}
            <ul class="concerns">
              {(state === "open" ? worstFirst(items).slice(0, count) : items).map((alert) => (
                <Line alert={alert} key={alert.number} />
              ))}
            </ul>
            {count < MOST && (next !== null || count < items.length) && (
              <button type="button" onClick={() => setCount(count + STEP)}>
                Show more
              </button>
            )}
            {count >= MOST && next !== null && <p class="faint">There are older ones, which are not shown here.</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const TONES = { info: "calm", warning: "warn", critical: "bad" } as const;

function Line({ alert }: { readonly alert: Alert }) {
  const { severity, code, subject, text, at, over, strategy, run } = alert;
  return (
    <li class={over === null ? TONES[severity] : "calm"}>
      <p>
        <Badge state={severity} tone={TONES[severity]} />{" "}
        <strong>
          {inWords(code)}
          {subject === "" ? "" : `: ${subject}`}
        </strong>{" "}
        <span class="faint">
          <Ago instant={at} />
          {over !== null && (
            <>
              , over <Ago instant={over} />
            </>
          )}
        </span>
      </p>
      <p>{text}</p>
      <p class="links">
        {run !== null && <a href={linkToRun(run)}>Run</a>}
        {strategy !== null && <a href={linkToStrategy(strategy)}>{strategy}</a>}
      </p>
    </li>
  );
}

function Channels() {
  const status = useReading("getStatus", "/status", { live: true });
  return (
    <Card title="Channels" class="broad">
      <Loaded reading={status}>
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty>
              No channel is configured, so nobody is told when something happens: `alerts.channels` in the configuration
              names one.
            </Empty>
          ) : (
            <ul class="plain-list">
              {channels.map(({ name, isBehind, waiting, outcome }) => (
                <li key={name}>
                  {name} <Badge state={isBehind ? "behind" : "current"} tone={isBehind ? "warn" : "good"} />{" "}
                  {waiting > 0 && `${waiting} wait`} {outcome !== null && <span class="faint">{outcome}</span>}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
