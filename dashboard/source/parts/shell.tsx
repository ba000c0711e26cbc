import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Info, Status } from "../answers.ts";
import { setDaemonTime } from "../clock.ts";
import { MODE_WORDS, modeText } from "../format/words.ts";
import { connection } from "../live.ts";
import { concernsOf } from "../model/concerns.ts";
import { useReading } from "../resource.ts";
import { leave, standing } from "../session.ts";
import { nextTheme, theme } from "../theme.ts";

const PAGES = [
  { page: "overview", text: "Overview", place: "#/" },
  { page: "history", text: "History", place: "#/history" },
  { page: "wallets", text: "Wallets", place: "#/wallets" },
  { page: "services", text: "Services", place: "#/services" },
  { page: "alerts", text: "Alerts", place: "#/alerts" },
  { page: "record", text: "Record", place: "#/record" },
] as const;

/** What stands around every page: the mode, the way to the others, and whether what is shown is current. */
export function Shell({ page, children }: { readonly page: string; readonly children: ComponentChildren }) {
  const info = useReading("getInfo", "/info");
  const status = useReading("getStatus", "/status", { live: true, everyMs: 15_000 });
  const at = status.value?.at;
  useEffect(() => {
    if (at !== undefined) setDaemonTime(at);
  }, [at]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        Skip to content
      </button>
      <ModeBand info={info.value} status={status.value} />
      <header class="top">
        <a class="brand" href="#/">
          swapd
        </a>
        <Navigation page={page} alerts={status.value === undefined ? 0 : pressing(status.value)} />
        <div class="tools">
          <LiveMark isLate={status.trouble !== undefined} />
          <button type="button" class="plain" onClick={nextTheme} title="Colours">
            <span class="wide-only">Theme: </span>
            {theme.value}
          </button>
          <button type="button" class="plain" onClick={() => void leave()} title={whoText()}>
            Log out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        swapd {info.value?.version} on {info.value?.network.name ?? "…"}; times by your clock
      </footer>
    </>
  );
}

function whoText(): string {
  const known = standing.value;
  return known.kind === "known" ? `${known.session.name}, may ${known.session.scope}` : "";
}

function pressing(status: Status): number {
  return concernsOf(status).filter(({ tone }) => tone !== "calm").length;
}

function Navigation({ page, alerts }: { readonly page: string; readonly alerts: number }) {
  return (
    <nav aria-label="Pages">
      {PAGES.map(({ page: name, text, place }) => (
        <a key={name} href={place} aria-current={name === page ? "page" : undefined}>
          {text}
          {name === "overview" && alerts > 0 && (
            <span class="count">
              {alerts}
              <span class="unseen"> need attention</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

interface BandProps {
  readonly info: Info | undefined;
  readonly status: Status | undefined;
}

/** Dry, paper or live over the whole width, by word and by colour. */
function ModeBand({ info, status }: BandProps) {
  const mode = status?.mode ?? info?.mode;
  if (mode === undefined) return <div class="band" />;
  const words = MODE_WORDS[mode];
  const operating = status?.operating ?? "active";
  return (
    <aside class={`band ${mode}`} aria-label="Mode">
      <strong>{words.title}</strong>
      <span>{modeText(mode, info)}</span>
      {operating !== "active" && <span class="operating">everything is {operating.replace("-", " ")}</span>}
    </aside>
  );
}

function LiveMark({ isLate }: { readonly isLate: boolean }) {
  const state = isLate && connection.value === "live" ? "connecting" : connection.value;
  const text = { live: "live", connecting: "connecting", lost: "not current" }[state];
  return (
    <span class={`live-mark ${state}`} role="status">
      {text}
    </span>
  );
}
