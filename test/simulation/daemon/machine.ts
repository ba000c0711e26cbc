import { createRandomIds } from "../../../src/adapters/ids/random-ids.ts";
import type { Machine } from "../../../src/app/machine.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimNetwork } from "../world/network.ts";

/** What a dead process would have gone on to do. */
export class Killed extends Error {}

/** The machine that one life of the daemon runs on. Once it is dead nothing that it waits for ever comes. */
export function createMachine(terms: {
  time: VirtualTime;
  network: SimNetwork;
  /** how far the wall clock is off, in milliseconds */
  offsetMs(): number;
  random(): number;
  tickEveryMs: number;
  isDead(): boolean;
  at(instant: "leaves" | "arrived", label: string): void;
}): Machine {
  const { time, network, isDead, random } = terms;
  const clock: Clock = {
    nowMs: () => Math.floor(time.trueMs + terms.offsetMs()),
    monotonicMs: () => time.monotonicMs,
    sinceBoot: () => ({ id: "simulated", ms: time.monotonicMs }),
    sleep: (durationMs, signal) => sleep(terms, durationMs, signal),
  };
  const nowUs = (): number => time.monotonicMs * 1_000;
  const randomUint256 = (): bigint =>
    BigInt(Math.floor(random() * 2 ** 52)) * 2n ** 52n + BigInt(Math.floor(random() * 2 ** 52));
  return {
    clock,
    sharedClock: { nowUs, bootId: "simulated" },
    ids: createRandomIds(clock.nowMs, randomUint256),
    random,
    fetch: (request) => network.fetch(terms, request),
    startTicker: (onTick) => {
      let isStopped = false;
      const next = (): void => {
        time.after(terms.tickEveryMs, () => {
          if (isStopped || isDead()) return;
          onTick();
          next();
        });
      };
      next();
      return async () => {
        isStopped = true;
      };
    },
  };
}

function sleep(
  { time, isDead }: { time: VirtualTime; isDead(): boolean },
  durationMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (Number.isNaN(durationMs)) throw new RangeError("cannot sleep for NaN milliseconds");
  if (signal?.aborted === true || durationMs <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      forget();
      letGo();
      if (!isDead()) resolve();
    };
    // A signal made of others is kept by the process as long as somebody listens, and with it the whole world.
    const letGo = (): void => signal?.removeEventListener("abort", done);
    const forget = time.after(durationMs, done, letGo);
    signal?.addEventListener("abort", done, { once: true });
  });
}
