import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Run } from "../answers.ts";
import { ask, query } from "../api.ts";
import { beat } from "../live.ts";
import { Card, Empty } from "../parts/card.tsx";
import { RunRow } from "../parts/run-row.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { useReading } from "../resource.ts";

const PAGE = 200;

interface Listing {
  readonly items: readonly Run[];
  /** undefined: nothing was read yet; null: all of it is here */
  readonly next: string | null | undefined;
  readonly trouble?: string;
}

/** New ones in front, changed ones in their place. */
function refreshed(old: readonly Run[], newest: readonly Run[]): readonly Run[] {
  const ids = new Set(newest.map(({ id }) => id));
  return [...newest, ...old.filter(({ id }) => !ids.has(id))];
}

function useRuns(strategy: string) {
  const [listing, setListing] = useState<Listing>({ items: [], next: undefined });
  const isReading = useRef(false);
  const of = strategy === "" ? undefined : strategy;
  const read = useCallback(
    async (before: string | undefined, put: (old: Listing, page: Listing) => Listing): Promise<void> => {
      if (isReading.current) return;
      isReading.current = true;
      try {
        const page = await ask("listRuns", `/runs?${query({ strategy: of, before, limit: PAGE })}`);
        setListing((old) => put(old, page));
      } catch (error) {
        setListing((old) => ({ ...old, trouble: error instanceof Error ? error.message : String(error) }));
      } finally {
        isReading.current = false;
      }
    },
    [of],
  );
  const pulse = beat.value;
  useEffect(() => {
    void read(undefined, (old, page) => ({
      items: refreshed(old.items, page.items),
      next: old.next === undefined ? page.next : old.next,
    }));
  }, [read, pulse]);
  const { next } = listing;
  const more = useCallback(() => {
    if (typeof next !== "string") return;
    void read(next, (old, page) => ({ items: [...old.items, ...page.items], next: page.next }));
  }, [next, read]);
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
