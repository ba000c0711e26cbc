import type { EndpointReport } from "../ports/chain.ts";
import type { Endpoint } from "./endpoint.ts";
import { type ProbeOptions, probeEndpoint } from "./probe-endpoint.ts";

/** Probes all endpoints, and one that returns. */
export interface AbilityProbes {
  /** Probes all of them now. */
  all(): Promise<readonly EndpointReport[]>;
  /** One answers again: another machine may stand behind its address. Not more often than once a minute. */
  returned(index: number): void;
  /** What was found is outdated: probes again those that were not probed within the last minute. */
  again(): void;
}

const SHORTEST_GAP_MS = 60_000;

/**
 * @param onReports gets what all endpoints can do, after each probe
 * @param onFault gets faults of our own
 */
export function createAbilityProbes(
  endpoints: readonly Endpoint[],
  options: ProbeOptions,
  deps: {
    readonly monotonicMs: () => number;
    readonly onReports: (reports: readonly EndpointReport[]) => Promise<void>;
    readonly onFault: (error: unknown) => void;
  },
): AbilityProbes {
  const reports: EndpointReport[] = [];
  const probedAtMs: number[] = [];

  async function one(index: number): Promise<void> {
    const endpoint = endpoints[index];
    if (endpoint === undefined) return;
    probedAtMs[index] = deps.monotonicMs();
    reports[index] = await probeEndpoint(endpoint, options);
  }

  function isRecent(index: number): boolean {
    const last = probedAtMs[index];
    return last === undefined || deps.monotonicMs() - last < SHORTEST_GAP_MS;
  }

  return {
    again() {
      const stale = endpoints.flatMap((_, index) => (isRecent(index) ? [] : [one(index)]));
      if (stale.length === 0) return;
      Promise.all(stale)
        .then(() => deps.onReports([...reports]))
        .catch(deps.onFault);
    },
    async all() {
      await Promise.all(endpoints.map((_, index) => one(index)));
      await deps.onReports([...reports]);
      return [...reports];
    },
    returned(index) {
      if (reports[index] === undefined) return;
      const isKnown = reports[index].findings.every(({ state }) => state !== "unknown");
      if (isKnown && isRecent(index)) return;
      one(index)
        .then(() => deps.onReports([...reports]))
        .catch(deps.onFault);
    },
  };
}
