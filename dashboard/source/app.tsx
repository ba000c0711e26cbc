import { signal, useSignalEffect } from "@preact/signals";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { outcome } from "./actions.ts";
import { API_VERSION } from "./answers.ts";
import { AlertsPage } from "./pages/alerts.tsx";
import { HistoryPage } from "./pages/history.tsx";
import { LoginPage } from "./pages/login.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { RecordPage } from "./pages/record.tsx";
import { RunPage } from "./pages/run.tsx";
import { ServicesPage } from "./pages/services.tsx";
import { StrategyPage } from "./pages/strategy.tsx";
import { WalletsPage } from "./pages/wallets.tsx";
import { ActionDialog } from "./parts/action-dialog.tsx";
import { Shell } from "./parts/shell.tsx";
import { parseRoute, type Route } from "./route.ts";
import { standing } from "./session.ts";

const route = signal(parseRoute(location.hash));
addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash);
  scrollTo(0, 0);
});

export function App() {
  const known = standing.value;
  switch (known.kind) {
    case "asking":
      return <Alone title="swapd">Loading…</Alone>;
    case "away":
      return (
        <Alone title="No answer">
          {known.text}. This page asks again every five seconds; on its machine, <code>swapd status</code> says more.
        </Alone>
      );
    case "other-version":
      return (
        <Alone title="Another version">
          The daemon speaks version {known.theirs} of its interface and this page version {API_VERSION}, so nothing is
          shown. Load the page again; if that changes nothing, something between here and the daemon keeps an old page.
        </Alone>
      );
    case "stranger":
      return <LoginPage version={known.version} isOver={known.isOver} />;
    case "known":
      return <Known />;
  }
}

function Alone({ title, children }: { readonly title: string; readonly children: preact.ComponentChildren }) {
  return (
    <main class="alone">
      <h1>{title}</h1>
      <p>{children}</p>
    </main>
  );
}

/** A mistake of this page on one of its places leaves the way to the others, and the actions, in place. */
function Guarded({ children }: { readonly children: preact.ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <p class="trouble" role="alert">
      This cannot be shown, by a mistake of the page: {String(error)}. The daemon itself goes on.{" "}
      <button type="button" class="plain" onClick={tryAgain}>
        Try again
      </button>
    </p>
  );
}

const TITLES = {
  overview: "Overview",
  history: "History",
  services: "Services",
  wallets: "Wallets",
  alerts: "Alerts",
  record: "Record",
} as const;

function titleOf(place: Route): string {
  if (place.page === "strategy") return place.id;
  if (place.page === "run") return "Run";
  return place.page === "nowhere" ? "Nothing here" : TITLES[place.page];
}

function Known() {
  const place = route.value;
  const title = titleOf(place);
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · swapd`;
    if (!isFirst.current) heading.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  return (
    <Shell page={place.page}>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <Guarded key={JSON.stringify(place)}>
        <Page place={place} />
      </Guarded>
      <ActionDialog />
      <Outcome />
    </Shell>
  );
}

function Page({ place }: { readonly place: Route }) {
  switch (place.page) {
    case "overview":
      return <OverviewPage />;
    case "strategy":
      return <StrategyPage id={place.id} key={place.id} />;
    case "run":
      return <RunPage id={place.id} key={place.id} />;
    case "history":
      return <HistoryPage />;
    case "services":
      return <ServicesPage />;
    case "wallets":
      return <WalletsPage />;
    case "alerts":
      return <AlertsPage />;
    case "record":
      return <RecordPage />;
    case "nowhere":
      return (
        <p>
          No page <code>{place.text}</code>. <a href="#/">Overview</a>
        </p>
      );
  }
}

const SHOWN_MS = 12_000;

/** What an action came to; stays a while, and is read aloud. */
function Outcome() {
  useSignalEffect(() => {
    if (outcome.value === undefined) return;
    const timer = setTimeout(() => {
      outcome.value = undefined;
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div class="outcome" role="status">
      {outcome.value !== undefined && <p class={outcome.value.tone}>{outcome.value.text}</p>}
    </div>
  );
}
