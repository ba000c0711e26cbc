import { formatPercent, type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { shortestIntervalSeconds } from "../../domain/schedule/next-instants.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import type { Band, BandRules, Destination } from "../../domain/strategy/rebalance-spec.ts";
import { at, type Found, type Part, type Path, sound } from "../complaint.ts";
import type { RebalanceFields } from "./rebalance-schema.ts";

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

/** The time without a check that breaks off a confirmation: at least a day, and never less than two intervals. */
const MAX_GAP_SECONDS = 86_400;
/** How far inside its band's edge a rebalance to the edge stops. */
const INWARD = toPpm(150_000);

/** @returns undefined when something of it is broken */
export function* buildBands(
  fields: RebalanceFields["bands"] | undefined,
  schedule: Schedule | undefined,
): Part<SharedBands> {
  if (fields === undefined) return undefined;
  if (fields === "none") return { rules: "none" };
  const bands = yield* sound(readBand(["bands"], fields));
  const interval = schedule === undefined ? 1 : shortestIntervalSeconds(schedule);
  const rules: BandRules = {
    trigger: fields.trigger,
    soft: { forSeconds: fields.soft?.for ?? 0, cooldownSeconds: fields.soft?.cooldown ?? 0 },
    hard: { forSeconds: fields.hard?.for ?? 0 },
    maxGapSeconds: fields.max_gap ?? Math.max(MAX_GAP_SECONDS, 2 * interval),
  };
  return bands === undefined ? undefined : { rules, ...bands };
}

/** Reads `{ relative, absolute }`, which is a soft band, or `{ soft, hard }`. */
export function* readBand(path: Path, fields: BandFields): Found<{ soft: Band | undefined; hard: Band | undefined }> {
  const short = measuresOf(fields);
  if (short !== undefined && fields.soft !== undefined)
    yield at`${path}.soft: stands next to relative or absolute, which are the soft band too -> move them into soft`;
  const empty = [
    ...(short === undefined && fields.soft === undefined && fields.hard === undefined ? [path] : []),
    ...(["soft", "hard"] as const)
      .filter((name) => fields[name] !== undefined && measuresOf(fields[name]) === undefined)
      .map((name) => [...path, name]),
  ];
  for (const place of empty)
    yield at`${place}: needs relative, absolute or both -> for example { relative: 20% } or { absolute: 5pp }`;
  const soft = measuresOf(fields.soft) ?? short;
  const hard = measuresOf(fields.hard);
  for (const measure of ["relative", "absolute"] as const) {
    const [inner, outer] = [soft?.[measure], hard?.[measure]];
    if (inner === undefined || outer === undefined || outer > inner) continue;
    const width = formatPercent(inner);
    yield at`${path}.hard.${measure}: must be wider than the soft band of ${width}, or soft would never be reached -> use more than ${width}, or a narrower soft band`;
  }
  return { soft, hard };
}

function measuresOf({ relative, absolute }: Measures = {}): Band | undefined {
  return relative === undefined && absolute === undefined ? undefined : { relative, absolute };
}

/** Where a rebalance stops. */
export function* buildDestination(
  fields: RebalanceFields["destination"] | undefined,
  bands: SharedBands | undefined,
): Found<Destination> {
  const { to, inward, share } = typeof fields === "object" ? fields : { to: fields ?? "target" };
  if (to !== "edge" && inward !== undefined)
    yield at`destination.inward: means nothing on the way to ${to} -> leave it out`;
  if (to !== "fraction" && share !== undefined)
    yield at`destination.share: means nothing on the way to ${to} -> leave it out`;
  if (to === "edge" && bands?.rules === "none")
    yield at`destination: without bands there is no edge -> use target, or give bands`;
  if (to === "fraction" && (share === undefined || share === 0n))
    yield at`destination: needs a share of the way that is more than nothing -> write { to: fraction, share: 50% }`;
  if (to === "edge") return { to, inward: inward ?? INWARD };
  return to === "fraction" ? { to, share: share ?? toPpm(0) } : { to: "target" };
}
