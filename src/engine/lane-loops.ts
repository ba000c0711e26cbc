import type { Address } from "../domain/money/address.ts";
import type { Lane } from "../lane/lane.ts";
import type { EngineContext } from "./engine-context.ts";
import { createWaker } from "./waker.ts";

/** Keeps every wallet's lane going. */
export interface LaneLoops {
  /** There is something new for the lanes of these wallets. */
  wake(wallets: readonly Address[]): void;
  /** One loop a lane; each goes on until the signal aborts. */
  start(signal: AbortSignal): readonly (() => Promise<void>)[];
}

/**
 * Makes the loops. A lane is woken for its own transactions only: with hundreds of wallets every commit would send all of
 * them to the chain at once.
 */
export function createLaneLoops({ deps, settings }: EngineContext): LaneLoops {
  const wakers = new Map([...deps.signers.keys()].map((wallet) => [wallet, createWaker(deps.clock)]));
  const keepGoing = async (wallet: Address, lane: Lane, signal: AbortSignal): Promise<void> => {
    const waker = wakers.get(wallet) ?? createWaker(deps.clock);
    while (!signal.aborted) {
      await lane.tick(signal);
      await waker.wait(settings.pace.pollMs, signal);
    }
  };
  return {
    wake: (wallets) => {
      for (const wallet of wallets) wakers.get(wallet)?.wake();
    },
    start: (signal) =>
      [...deps.lanes].map(
        ([wallet, lane]) =>
          () =>
            keepGoing(wallet, lane, signal),
      ),
  };
}
