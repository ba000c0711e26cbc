import type { Configuration } from "../../../src/config/configuration.ts";
import type { LoadedStrategy } from "../../../src/engine/engine-context.ts";
import type { Faults } from "../faults.ts";
import type { VirtualTime } from "../virtual-time.ts";

type Loaded = Configuration["strategies"];

/** The strategies' files as they are at this instant: as they were written first, edited, or put aside. */
export interface Strategies {
  /** @returns whether a file is another one than at the last check */
  check(): boolean;
  /** Copies: what the engine remembers of a specification must not outlive the process. */
  configured(): Loaded;
  loaded(): readonly LoadedStrategy[];
}

export function createStrategies(parts: {
  time: VirtualTime;
  faults: Faults;
  ids: readonly string[];
  first: Loaded;
  edited: Loaded;
}): Strategies {
  const { time, faults, ids } = parts;
  const edited = new Set<string>();
  const putAside = new Set<string>();
  const configured = (): Loaded =>
    structuredClone(
      ids
        .filter((id) => !putAside.has(id))
        .flatMap((id) => (edited.has(id) ? parts.edited : parts.first).filter(({ spec }) => spec.id === id)),
    );
  /** @returns whether the file is another one, or there again or no more */
  const follow = (name: "files: edited" | "files: put aside", files: Set<string>, id: string): boolean => {
    const lasts = faults.lasts(name, id, time.monotonicMs);
    if (lasts === files.has(id)) return false;
    if (lasts) files.add(id);
    else files.delete(id);
    return true;
  };
  return {
    check: () => {
      let hasChanged = false;
      for (const id of ids) {
        if (follow("files: edited", edited, id)) hasChanged = true;
        if (follow("files: put aside", putAside, id)) hasChanged = true;
      }
      return hasChanged;
    },
    configured,
    loaded: () => configured().map(({ spec, hash }) => ({ spec, specHash: hash })),
  };
}
