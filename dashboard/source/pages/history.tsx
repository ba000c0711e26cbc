import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask, query } from "../api.ts";
import { beat } from "../live.ts";
import { textOf } from "../model/problem.ts";
import { PAGE, type RunList, readAgain, renewed } from "../model/run-list.ts";
import { Card, Empty } from "../parts/card.tsx";
import { RunRow } from "../parts/run-row.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { useReading } from "../resource.ts";

interface Listing extends RunList {
  readonly trouble?: string;
}

/** What is to be read: one thing after the other, and nothing is forgotten that was asked for meanwhile. */
interface Wanted {
  isReading: boolean;
  newest: boolean;
  older: boolean;
}

function useRuns(strategy: string) {
  const [listing, setListing] = useState<Listing>({ items: [], next: undefined });
  const known = useRef(listing);
  const wanted = useRef<Wanted>({ isReading: false, newest: false, older: false });
  const of = strategy === "" ? undefined : strategy;
  const read = useCallback(
    async (isNewest: boolean): Promise<Listing> => {
      const { items, next } = known.current;
      if (!isNewest && typeof next !== "string") return known.current;
      const part = isNewest ? { limit: readAgain(items) } : { before: next ?? undefined, limit: PAGE };
      const page = await ask("listRuns", `/runs?${query({ strategy: of, ...part })}`);
      return isNewest ? renewed({ items, next }, page) : { items: [...items, ...page.items], next: page.next };
    },
    [of],
  );
  const readWanted = useCallback(
    async (more: "newest" | "older"): Promise<void> => {
      const now = wanted.current;
      now[more] = true;
      if (now.isReading) return;
      now.isReading = true;
      while (now.newest || now.older) {
        const isNewest = now.newest;
        now[isNewest ? "newest" : "older"] = false;
        known.current = await read(isNewest).catch((error: unknown) => ({
          ...known.current,
          trouble: textOf(error),
        }));
        setListing(known.current);
      }
      now.isReading = false;
    },
    [read],
  );
  const pulse = beat.value;
  useEffect(() => void readWanted("newest"), [readWanted, pulse]);
  const more = useCallback(() => void readWanted("older"), [readWanted]);
  return { listing, more };
}

/** Every run that is kept, newest first. */
export function HistoryPage() {
  const [strategy, setStrategy] = useState("");
  const strategies = useReading("getInfo", "/info").value?.strategies ?? [];
  return (
    <Card
      title="Runs"
      class="broad"
      aside={
        <label class="inline">
          Strategy{" "}
          <select value={strategy} onChange={(event) => setStrategy(event.currentTarget.value)}>
            <option value="">all</option>
            {strategies.map(({ id }) => (
              <option value={id} key={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      }
    >
      <Runs strategy={strategy} key={strategy} />
    </Card>
  );
}

function Runs({ strategy }: { readonly strategy: string }) {
  const { listing, more } = useRuns(strategy);
  const { items, next, trouble } = listing;
  return (
    <>
      {trouble !== undefined && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      {items.length === 0 && next === null && (
        <Empty>No run is kept yet. Each slot of a strategy leaves one, also when nothing was traded.</Empty>
      )}
      {items.length === 0 && next === undefined && trouble === undefined && <Empty>Loading…</Empty>}
      {items.length > 0 && (
        <VirtualList
          label="Runs, newest first"
          items={items}
          keyOf={({ id }) => id}
          row={(run) => <RunRow run={run} />}
          more={more}
        />
      )}
      <p class="faint">
        {items.length} shown{typeof next === "string" ? "; older ones come as you scroll" : ""}. Uneventful slots in a
        row are kept as gaps, and named on the page of their strategy by “Why at that time?”.
      </p>
    </>
  );
}
