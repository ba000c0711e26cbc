import { existsSync } from "node:fs";
import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { hasTables } from "../adapters/sqlite/daemon/schema.ts";
import { paperDatabaseOf } from "../config/build-paper.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import { againstReference, median } from "../domain/paper/fill-quality.ts";
import type { FillHistory, ReadModel } from "../ports/read-model.ts";
import { openDatabase } from "../storage/database.ts";

/** Of so many of the newest fills the median is taken. */
const MOST_FILLS = 500;

/** How fills compare with the reference prices of their decisions: the median in parts per million, of so many. */
export interface FillQuality {
  readonly medianPpm: bigint;
  readonly fills: number;
}

/** Fills on paper and live, each against the reference; undefined where one of the two has none. */
export interface PaperAgainstLive {
  readonly paper: FillQuality;
  readonly live: FillQuality;
}

/**
 * Compares the fills of a live database with those that were on paper beside it.
 * @param database that of the live fills
 */
export async function comparePaper(
  reads: Pick<ReadModel, "fills">,
  database: string,
): Promise<PaperAgainstLive | undefined> {
  const live = qualityOf(await reads.fills(MOST_FILLS));
  const paper = live && qualityOf(await readPaperFills(paperDatabaseOf(database)));
  return live === undefined || paper === undefined ? undefined : { paper, live };
}

async function readPaperFills(file: string): Promise<readonly FillHistory[]> {
  if (!existsSync(file)) return [];
  const db = openDatabase({ file, readonly: true });
  try {
    return hasTables(db) ? await createReadModel(db).fills(MOST_FILLS) : [];
  } finally {
    db.close();
  }
}

function qualityOf(fills: readonly FillHistory[]): FillQuality | undefined {
  const found = fills.flatMap(({ sold, bought }) => {
    const apart = againstReference({
      sold: { ...sold, usd: sold.usd as UsdPrice },
      bought: { ...bought, usd: bought.usd as UsdPrice },
    });
    return apart === undefined ? [] : [apart];
  });
  const medianPpm = median(found);
  return medianPpm === undefined ? undefined : { medianPpm, fills: found.length };
}

/** The comparison in a sentence. */
export function describePaperAgainstLive({ paper, live }: PaperAgainstLive): string {
  const of = ({ medianPpm, fills }: FillQuality, what: string): string =>
    `${what} ${basisPoints(medianPpm)} bp against the reference (median of ${fills})`;
  return `${of(live, "live fills")}, ${of(paper, "paper fills")}: live is ${basisPoints(live.medianPpm - paper.medianPpm)} bp apart from paper`;
}

/** The comparison as machines read it, in basis points. */
export function paperAgainstLiveJson({ paper, live }: PaperAgainstLive): object {
  const of = ({ medianPpm, fills }: FillQuality) => ({ medianBps: basisPoints(medianPpm), fills });
  return { paper: of(paper), live: of(live), differenceBps: basisPoints(live.medianPpm - paper.medianPpm) };
}

/** Parts per million as basis points with two places: `-12.05`. */
function basisPoints(ppm: bigint): string {
  const digits = (ppm < 0n ? -ppm : ppm).toString().padStart(3, "0");
  return `${ppm < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
