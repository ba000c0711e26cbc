import { signal } from "@preact/signals";

/** The daemon's time, in milliseconds: countdowns are right on a device whose clock is not. */
export const now = signal(Date.now());

let aheadMs = 0;

export function setDaemonTime(instant: string): void {
  const theirs = Date.parse(instant);
  if (!Number.isNaN(theirs)) aheadMs = theirs - Date.now();
}

setInterval(() => {
  if (!document.hidden) now.value = Date.now() + aheadMs;
}, 1_000);
