import { formatPercent, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import type { Band, BandRules, Destination } from "../../domain/strategy/rebalance-spec.ts";
import { DEFAULTS } from "../defaults.ts";
import { type Path, problemAt } from "../source.ts";
import type { RebalanceFields } from "./rebalance-schema.ts";
import type { StrategyFile } from "./scope.ts";

/** The bands that hold for every token without its own, and the rules of all. */
export type SharedBands =
  | { readonly rules: "none" }
  | { readonly rules: BandRules; readonly soft: Band | undefined; readonly hard: Band | undefined };

interface Measures {
  readonly relative?: Ppm | undefined;
  readonly absolute?: Ppm | undefined;
}

interface BandFields extends Measures {
  readonly soft?: Measures | undefined;
  readonly hard?: Measures | undefined;
}

const BAND_EXAMPLE = "for example { relative: 20% } or { absolute: 5pp }";

/** @returns undefined when something of it is broken */
export function buildBands(
  file: StrategyFile,
  fields: RebalanceFields["bands"] | undefined,
  schedule: Schedule | undefined,
): SharedBands | undefined {
  if (fields === undefined) return undefined;
  if (fields === "none") return { rules: "none" };
  const before = file.problems.length;
  const { soft, hard } = readBand(file, ["bands"], fields);
  const interval = schedule === undefined ? 1 : shortestIntervalSeconds(schedule);
  const rules: BandRules = {
    trigger: fields.trigger ?? DEFAULTS.rebalance.trigger,
    soft: { forSeconds: fields.soft?.for ?? 0, cooldownSeconds: fields.soft?.cooldown ?? 0 },
    hard: { forSeconds: fields.hard?.for ?? 0 },
    maxGapSeconds: fields.max_gap ?? Math.max(DEFAULTS.rebalance.maxGapSeconds, 2 * interval),
  };
  return file.problems.length > before ? undefined : { rules, soft, hard };
}

/** Reads `{ relative, absolute }`, which is a soft band, or `{ soft, hard }`. */
export function readBand(
  file: StrategyFile,
  path: Path,
  fields: BandFields,
): { soft: Band | undefined; hard: Band | undefined } {
  const { source, problems } = file;
  const short = measuresOf(fields);
  if (short !== undefined && fields.soft !== undefined) {
    const message = "stands beside relative or absolute, which are the soft band too";
    problems.push(problemAt(source, [...path, "soft"], message, "move them into soft"));
  }
  if (short === undefined && fields.soft === undefined && fields.hard === undefined) {
    problems.push(problemAt(source, path, "needs relative, absolute or both", BAND_EXAMPLE));
  }
  const tier = (name: "soft" | "hard"): Band | undefined => {
    const part = fields[name];
    const band = part === undefined ? undefined : measuresOf(part);
    if (part !== undefined && band === undefined) {
      problems.push(problemAt(source, [...path, name], "needs relative, absolute or both", BAND_EXAMPLE));
    }
    return band;
  };
  const soft = tier("soft") ?? short;
  const hard = tier("hard");
  checkOrder(file, path, { soft, hard });
  return { soft, hard };
}

function measuresOf({ relative, absolute }: Measures): Band | undefined {
  return relative === undefined && absolute === undefined ? undefined : { relative, absolute };
}

function checkOrder(file: StrategyFile, path: Path, bands: { soft: Band | undefined; hard: Band | undefined }): void {
  for (const measure of ["relative", "absolute"] as const) {
    const soft = bands.soft?.[measure];
    const hard = bands.hard?.[measure];
    if (soft === undefined || hard === undefined || hard > soft) continue;
    const message = `must be wider than the soft band of ${formatPercent(soft)}, or soft would never be reached`;
    const suggestion = `use more than ${formatPercent(soft)}, or a narrower soft band`;
    file.problems.push(problemAt(file.source, [...path, "hard", measure], message, suggestion));
  }
}

/** Where a rebalance stops. @returns undefined when something of it is broken */
export function buildDestination(
  file: StrategyFile,
  fields: RebalanceFields["destination"],
  bands: SharedBands | undefined,
): Destination | undefined {
  const { source, problems } = file;
  const given = typeof fields === "object" ? fields : { to: fields ?? DEFAULTS.rebalance.destination };
  const before = problems.length;
  if (given.to !== "edge" && given.inward !== undefined) {
    problems.push(
      problemAt(source, ["destination", "inward"], `means nothing on the way to ${given.to}`, "leave it out"),
    );
  }
  if (given.to !== "fraction" && given.share !== undefined) {
    problems.push(
      problemAt(source, ["destination", "share"], `means nothing on the way to ${given.to}`, "leave it out"),
    );
  }
  if (given.to === "edge" && bands?.rules === "none") {
    problems.push(problemAt(source, ["destination"], "without bands there is no edge", "use target, or give bands"));
  }
  if (given.to === "fraction" && (given.share === undefined || given.share === 0n)) {
    const message = "needs a share of the way that is more than nothing";
    problems.push(problemAt(source, ["destination"], message, "write { to: fraction, share: 50% }"));
  }
  if (problems.length > before) return undefined;
  if (given.to === "edge") return { to: "edge", inward: given.inward ?? DEFAULTS.rebalance.inward };
  return given.to === "fraction" ? { to: "fraction", share: given.share ?? toPpm(0) } : { to: "target" };
}
