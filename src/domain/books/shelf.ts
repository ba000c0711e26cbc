import { smaller } from "../money/bigint.ts";

/** Which lots are taken before others. */
export const LOT_PICKS = ["oldest", "newest", "highest-cost", "lowest-cost"] as const;
export type LotPick = (typeof LOT_PICKS)[number];

/** So much of one lot, wherever it lies. */
export interface Held {
  readonly id: string;
  readonly raw: bigint;
  /** what it cost in dollars (1e-18); undefined: nobody knows */
  readonly basis: bigint | undefined;
  readonly acquiredMs: number | undefined;
}

/** A part of a lot that was taken. */
export interface Part extends Omit<Held, "id"> {
  readonly lot: string;
}

/** The units of one asset in one place. */
export interface Shelf {
  put(lot: Held): void;
  /** Takes what is there, at most. @param by.lot one lot before all others */
  take(raw: bigint, by: { readonly pick: LotPick; readonly lot?: string | undefined }): readonly Part[];
  total(): bigint;
  lots(): readonly Held[];
}

/** A shelf with lots apart, or with one average of all that was acquired at a known cost. */
export function createShelf({ isAveraged }: { readonly isAveraged: boolean }): Shelf {
  return isAveraged ? averagedShelf() : shelfOfLots();
}

function shelfOfLots(): Shelf {
  const lots: Held[] = [];
  let total = 0n;
  return {
    put: (lot) => {
      if (lot.raw <= 0n) return;
      total += lot.raw;
      // What was acquired at an unknown time was there before all else.
      const place = lots.findLastIndex((other) => (other.acquiredMs ?? 0) <= (lot.acquiredMs ?? 0)) + 1;
      lots.splice(place, 0, lot);
    },
    take: (raw, { pick, lot }) => {
      const parts: Part[] = [];
      let wanted = smaller(raw, total);
      total -= wanted;
      while (wanted > 0n) {
        const index = placeOf(lots, pick, lot);
        const held = lots[index];
        if (held === undefined) break;
        const [part, rest] = split(held, smaller(wanted, held.raw));
        parts.push(part);
        wanted -= part.raw;
        if (rest === undefined) lots.splice(index, 1);
        else lots[index] = rest;
      }
      return parts;
    },
    total: () => total,
    lots: () => [...lots],
  };
}

function placeOf(lots: readonly Held[], pick: LotPick, named: string | undefined): number {
  const place = named === undefined ? -1 : lots.findLastIndex(({ id }) => id === named);
  if (place >= 0) return place;
  if (pick === "oldest") return 0;
  if (pick === "newest") return lots.length - 1;
  return lots.reduce((best, lot, index) => (isBefore(lot, lots[best], pick) ? index : best), 0);
}

/** By the cost of one unit; what cost nobody knows how much comes last. */
function isBefore(one: Held, other: Held | undefined, pick: "highest-cost" | "lowest-cost"): boolean {
  if (other === undefined || one.basis === undefined) return false;
  if (other.basis === undefined) return true;
  const [left, right] = [one.basis * other.raw, other.basis * one.raw];
  return pick === "highest-cost" ? left > right : left < right;
}

function split(held: Held, raw: bigint): readonly [Part, Held | undefined] {
  const { id: lot, acquiredMs, basis } = held;
  if (raw === held.raw) return [{ lot, raw, basis, acquiredMs }, undefined];
  const share = basis === undefined ? undefined : (basis * raw) / held.raw;
  const rest = basis === undefined || share === undefined ? undefined : basis - share;
  return [
    { lot, raw, basis: share, acquiredMs },
    { ...held, raw: held.raw - raw, basis: rest },
  ];
}

/** What cost nobody knows how much is in no average: of both kinds the same share leaves. */
function averagedShelf(): Shelf {
  let known: Held = { id: "average", raw: 0n, basis: 0n, acquiredMs: undefined };
  let unknown: Held = { id: "unknown", raw: 0n, basis: undefined, acquiredMs: undefined };
  const total = (): bigint => known.raw + unknown.raw;
  const lots = (): readonly Held[] => [known, unknown].filter(({ raw }) => raw > 0n);
  return {
    put: ({ raw, basis }) => {
      if (basis === undefined) unknown = { ...unknown, raw: unknown.raw + raw };
      else known = { ...known, raw: known.raw + raw, basis: (known.basis ?? 0n) + basis };
    },
    take: (raw) => {
      const wanted = smaller(raw, total());
      if (wanted === 0n) return [];
      const ofKnown = (wanted * known.raw) / total();
      const parts: Part[] = [];
      for (const [held, amount] of [
        [known, ofKnown],
        [unknown, wanted - ofKnown],
      ] as const) {
        if (amount === 0n) continue;
        const [part, rest] = split(held, amount);
        parts.push(part);
        const left = rest ?? { ...held, raw: 0n, basis: held.basis === undefined ? undefined : 0n };
        if (held === known) known = left;
        else unknown = left;
      }
      return parts;
    },
    total,
    lots,
  };
}
