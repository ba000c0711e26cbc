import type { Configuration } from "../../../src/config/configuration.ts";
import type { LoadedStrategy } from "../../../src/engine/engine-context.ts";
import type { Faults } from "../faults.ts";
import type { VirtualTime } from "../virtual-time.ts";

type Loaded = Configuration["strategies"];

/** The strategies' files as they are at this instant: as they were written first, or as somebody edited them. */
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
  const configured = (): Loaded =>
    structuredClone(
      ids.flatMap((id) => (edited.has(id) ? parts.edited : parts.first).filter(({ spec }) => spec.id === id)),
    );
  return {
    check: () => {
      let hasChanged = false;
      for (const id of ids) {
        const isEdited = faults.lasts("files: edited", id, time.monotonicMs);
        if (isEdited === edited.has(id)) continue;
        hasChanged = true;
        if (isEdited) edited.add(id);
        else edited.delete(id);
      }
      return hasChanged;
    },
    configured,
    loaded: () => configured().map(({ spec, hash }) => ({ spec, specHash: hash })),
  };
}
