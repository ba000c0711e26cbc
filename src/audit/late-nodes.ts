import type { Hex } from "../domain/money/address.ts";
import { hostOf, type Secret } from "../net/secret.ts";
import { type ChainReader, createChainReader } from "./chain-reader.ts";
import type { Tip } from "./node-answers.ts";
import type { AuditReport } from "./report.ts";
import type { Snapshot } from "./snapshot.ts";
import { timeText } from "./time-text.ts";

/** As for the daemon, which then reads from the other endpoints first. */
const LATE_SECONDS = 120;
/** As for the daemon: no node makes a block of so far ahead, and by one that shows one the others would seem late. */
const MOST_AHEAD_SECONDS = 30;
/** One that does not say its newest block by then is asked in its turn. */
const ASKED_FOR_MS = 10_000;

/**
 * The chain is read no further than the endpoint's newest block: where the rows know a later one it has to come to that.
 * @throws AuditError `CHAIN_UNREADABLE` when it does not: it stands still, or what the row says is false
 */
export async function assertReached(chain: ChainReader, tip: Tip, snapshot: Snapshot): Promise<void> {
  const known = await newestKnown(chain, tip, snapshot);
  if (known === undefined) return;
  const standsStill = `it stands still at block ${tip.number} of ${timeText(tip.seconds)}`;
  await chain.reach(known.block, `which ${known.by}, is not known to it: ${standsStill}, or that is false`);
}

interface KnownBlock {
  readonly block: number;
  /** who says so */
  readonly by: string;
}

/** A row whose transaction the node itself has in an earlier block is wrong, and proves nothing. */
async function newestKnown(chain: ChainReader, tip: Tip, snapshot: Snapshot): Promise<KnownBlock | undefined> {
  const upTo = snapshot.checkedUpTo ?? 0;
  const beyond = minedRows(snapshot).filter(({ block }) => block > Math.max(tip.number, upTo));
  for (const { block, hash, subject } of beyond.sort((a, b) => b.block - a.block)) {
    const actual = (await chain.receipts([hash])).get(hash)?.blockNumber;
    if (actual === undefined || actual > tip.number) return { block, by: `${subject} is recorded in` };
  }
  return upTo > tip.number ? { block: upTo, by: "the daemon has checked the chain up to" } : undefined;
}

interface MinedRow {
  readonly block: number;
  readonly hash: Hex;
  readonly subject: string;
}

function minedRows({ swaps, intents, costs }: Snapshot): MinedRow[] {
  const of = (subject: string, hash: Hex | null, block: number | null): MinedRow[] =>
    hash === null || block === null ? [] : [{ subject, hash, block }];
  return [
    ...[...swaps.values()].flatMap(({ id, hash, block_number: block }) => of(`swap ${id}`, hash, block)),
    ...[...intents.values()].flatMap((row) => of(`intent ${row.id}`, row.mined_attempt_hash, row.mined_block_number)),
    ...[...costs.values()].flatMap((row) => of(`intent ${row.intent_id}`, row.hash, row.block_number)),
  ];
}

/**
 * Puts those endpoints last whose newest block is much older than that of another, and says so: they stand still. The
 * others, and those that do not answer, keep their order.
 */
export async function lateLast(
  urls: readonly (string | Secret)[],
  nowMs: number,
  say: (text: string) => void,
): Promise<readonly (string | Secret)[]> {
  if (urls.length < 2) return urls;
  const signal = AbortSignal.timeout(ASKED_FOR_MS);
  const answers = await Promise.allSettled(urls.map(async (url) => await createChainReader(url, signal).tip()));
  const times = answers.map((answer) => (answer.status === "fulfilled" ? answer.value.seconds : undefined));
  const said = times.filter((seconds) => seconds !== undefined);
  const believable = said.filter((seconds) => seconds <= nowMs / 1_000 + MOST_AHEAD_SECONDS);
  const newest = Math.max(0, ...(believable.length > 0 ? believable : said));
  const late = new Set<string | Secret>();
  for (const [index, url] of urls.entries()) {
    const seconds = times[index] ?? newest;
    if (newest - seconds <= LATE_SECONDS) continue;
    late.add(url);
    say(`${hostOf(url)} is asked last: its newest block is of ${timeText(seconds)}, another's of ${timeText(newest)}`);
  }
  return [...urls.filter((url) => !late.has(url)), ...late];
}

/** Notes what was not looked at where the newest block is much older than the clock: the clock may be wrong as well. */
export function noteAge(report: AuditReport, nowMs: number): AuditReport {
  const { tip, notes } = report;
  const minutes = Math.floor((nowMs / 1_000 - tip.seconds) / 60);
  if (minutes * 60 < LATE_SECONDS) return report;
  const note = `What came after block ${tip.number}, the newest that the endpoint knows: it is of ${timeText(tip.seconds)}, ${minutes} minutes before this machine's clock.`;
  return { ...report, notes: [...notes, note] };
}
