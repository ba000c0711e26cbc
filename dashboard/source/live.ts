import { signal } from "@preact/signals";
import type { z } from "zod";
import type { EVENTS } from "../../src/app/http/api/shapes/action-shapes.ts";

export type Move = z.output<(typeof EVENTS)["transition"]>;

/** Counts up, at most once in a while, when something changed: what is shown is read again then. */
export const beat = signal(0);
/** The newest moves since the page was opened, newest first. */
export const moves = signal<readonly Move[]>([]);
export const connection = signal<"connecting" | "live" | "lost">("connecting");

const MOST_MOVES = 30;
const BEAT_MS = 700;

let source: EventSource | undefined;
let isPending = false;

/** One reading for however many events come together. */
function beatSoon(): void {
  if (isPending) return;
  isPending = true;
  setTimeout(() => {
    isPending = false;
    beat.value += 1;
  }, BEAT_MS);
}

/** Whom to tell that the login may have ended; undefined: nothing is to be followed. */
let doubt: (() => void) | undefined;

/**
 * Follows the daemon's events as long as somebody sees this tab. A browser has six connections to a server, for all of its
 * tabs together, and a stream keeps one: with six of them no tab could ask, or halt, anything.
 */
export function startLive(onDoubt: () => void): void {
  doubt = onDoubt;
  document.onvisibilitychange = () => {
    if (document.hidden) leave();
    else if (doubt !== undefined) {
      follow();
      doubt();
      beatSoon();
    }
  };
  follow();
}

/** The browser reconnects by itself and names the last event that it got. */
function follow(): void {
  if (source !== undefined || document.hidden) return;
  const events = new EventSource("api/v1/events");
  source = events;
  events.addEventListener("open", () => {
    const wasLost = connection.value === "lost";
    connection.value = "live";
    if (!wasLost) return;
    // It may be another version by now.
    doubt?.();
    beatSoon();
  });
  events.addEventListener("error", () => {
    connection.value = "lost";
    if (events.readyState !== EventSource.CLOSED) return;
    // Refused, and not tried again by the browser: the login may have ended, or the daemon is another one now.
    leave();
    setTimeout(() => doubt?.(), 2_000);
  });
  events.addEventListener("transition", (event) => {
    const move = JSON.parse(String(event.data)) as Move;
    moves.value = [move, ...moves.value].slice(0, MOST_MOVES);
    beatSoon();
  });
  for (const name of ["alerts", "modes", "reset"]) events.addEventListener(name, beatSoon);
}

function leave(): void {
  source?.close();
  source = undefined;
  connection.value = "connecting";
}

export function stopLive(): void {
  doubt = undefined;
  leave();
}
