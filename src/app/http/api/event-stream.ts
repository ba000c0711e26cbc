import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { z } from "zod";
import type { ListedTransition } from "../../../ports/listing.ts";
import type { ApiSources } from "./api-sources.ts";
import { describeTransition } from "./describe-run.ts";
import { describeMode, describeOpenAlert, describeWaiting } from "./describe-status.ts";
import type { EVENTS } from "./shapes/action-shapes.ts";

type EventName = keyof typeof EVENTS;

const ROWS_AT_ONCE = 100;

/** How long a stream waits for what. */
interface StreamTimes {
  /** without anything to report a line is sent so often, so that both sides know of each other */
  readonly heartbeatMs: number;
  /** however often the daemon writes, its rows are read no more often than this for a stream */
  readonly shortestRoundMs: number;
  /** who takes nothing for so long is cut off; he resumes where he was */
  readonly drainWithinMs: number;
}

const TIMES: StreamTimes = { heartbeatMs: 15_000, shortestRoundMs: 200, drainWithinMs: 10_000 };

/** A place in the order of all moves, as it stands in `Last-Event-ID`. */
interface Place {
  readonly number: number;
  readonly atMs: number;
}

const BEGIN: Place = { number: 0, atMs: 0 };

/** One who follows the events, until he goes, may not any more, or takes nothing. */
export interface Follower {
  readonly stream: ServerResponse;
  /** the header `Last-Event-ID` */
  readonly lastId: string | undefined;
  /** aborts when he goes */
  readonly signal: AbortSignal;
  /** whether he still may */
  isAllowed(): Promise<boolean>;
}

/**
 * Reports what happens from where the follower was. Rows are read when the daemon wrote some, and not again and again.
 * Nothing is told before it is known that he still may hear it; what he has not taken yet is one round of it at most.
 */
export async function follow(sources: ApiSources, follower: Follower, times: StreamTimes = TIMES): Promise<void> {
  const { commits, clock } = sources;
  const { stream, signal } = follower;
  const { place, isReset } = await beginAt(sources, follower.lastId);
  const readNews = createNews(sources, place);
  let text = isReset ? eventText("reset", { reason: "what came before is not kept" }, place) : "";
  let heardMs = clock.monotonicMs();
  while (!signal.aborted) {
    const written = commits.count();
    const news = await readNews();
    text += news.text;
    if (text === "" && clock.monotonicMs() - heardMs >= times.heartbeatMs) text = ": still there\n\n";
    if (text !== "") {
      if (!(await follower.isAllowed()) || !(await write(follower, text, times))) break;
      heardMs = clock.monotonicMs();
      text = "";
    }
    await clock.sleep(times.shortestRoundMs, signal);
    // Commits without news do not put the next line off.
    const restMs = Math.max(0, heardMs + times.heartbeatMs - clock.monotonicMs());
    if (!news.hasMore) await commits.wait(restMs, signal, written);
  }
  stream.destroy();
}

/** Reads what is new since the last time, as events. */
function createNews(sources: ApiSources, start: Place): () => Promise<{ text: string; hasMore: boolean }> {
  const told = { alerts: "", modes: "" };
  let place = start;
  return async () => {
    const rows = await sources.listing.transitionsAfter(place.number, ROWS_AT_ONCE);
    let text = "";
    for (const row of rows) {
      place = placeOf(row);
      text += eventText("transition", { ...describeTransition(row), run: row.run, strategy: row.strategy }, place);
    }
    return { text: text + (await changedStates(sources, told, place)), hasMore: rows.length === ROWS_AT_ONCE };
  };
}

/** Behind the last one that was heard; where that is not there any more, from now on. */
async function beginAt(
  { listing }: ApiSources,
  lastId: string | undefined,
): Promise<{ place: Place; isReset: boolean }> {
  const heard = lastId === undefined ? undefined : parsePlace(lastId);
  if (heard?.number === 0) return { place: BEGIN, isReset: false };
  const row = heard === undefined ? undefined : await listing.transition(heard.number);
  // Under its number there may be another one since: the database was restored, or the newest ones were archived.
  if (heard !== undefined && row?.atMs === heard.atMs) return { place: heard, isReset: false };
  const newest = await listing.newestTransition();
  return { place: newest === undefined ? BEGIN : placeOf(newest), isReset: lastId !== undefined };
}

function parsePlace(text: string): Place | undefined {
  const [, number, atMs] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  return number === undefined || atMs === undefined ? undefined : { number: Number(number), atMs: Number(atMs) };
}

function placeOf({ number, atMs }: ListedTransition): Place {
  return { number, atMs };
}

/** Alerts and modes as they are now, where they are not as they were told. */
async function changedStates(
  { listing, clock }: ApiSources,
  told: { alerts: string; modes: string },
  place: Place,
): Promise<string> {
  const { openAlerts, modes } = await listing.states();
  const alerts = eventText("alerts", { alerts: openAlerts.map(describeOpenAlert) }, place);
  const waiting = (await listing.waiting(clock.nowMs())).map(describeWaiting);
  const inForce = eventText("modes", { modes: modes.map(describeMode), waiting }, place);
  const news = [contentOf(alerts) === told.alerts ? "" : alerts, contentOf(inForce) === told.modes ? "" : inForce];
  told.alerts = contentOf(alerts);
  told.modes = contentOf(inForce);
  return news.join("");
}

/** Without the place, which changes with every move. */
function contentOf(event: string): string {
  return event.slice(event.indexOf("\n"));
}

/** JSON has no line breaks: nothing in it can end the event, or begin another one. */
function eventText<Name extends EventName>(
  name: Name,
  data: z.output<(typeof EVENTS)[Name]>,
  { number, atMs }: Place,
): string {
  return `id: ${number}.${atMs}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** @returns false where nobody takes it */
async function write({ stream, signal }: Follower, text: string, { drainWithinMs }: StreamTimes): Promise<boolean> {
  if (stream.write(text)) return true;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(drainWithinMs)]);
  return await once(stream, "drain", { signal: patience }).then(
    () => true,
    () => false,
  );
}
