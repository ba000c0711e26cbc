import type { Address } from "../../domain/money/address.ts";
import type { Lane } from "../../lane/lane.ts";
import type { JsonRpc } from "../../net/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";

/** Keeps a lane moving. */
export interface LaneRunner {
  /** Looks at the lane now instead of at the next turn. */
  wake(): void;
  /** Whether the relayer can take more swaps: it has gas money and nothing is wrong with its account. */
  isReady(): Promise<boolean>;
  /** Finishes the current turn and stops. */
  stop(): Promise<void>;
}

/** Between two looks at the lane; a block's time matters more than this. */
const POLL_MS = 500;

/** How long a balance is believed. */
const BALANCE_AGE_MS = 3_000;

export function runLane(
  options: { account: Address; minimumNativeBalance: bigint },
  dependencies: { lane: Lane; rpc: JsonRpc; clock: Clock; logger: Logger },
): LaneRunner {
  const { lane, rpc, clock, logger } = dependencies;
  const stopping = new AbortController();
  let waking = new AbortController();
  let balance: { readonly wei: bigint; readonly atMs: number } | undefined;

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      try {
        await lane.tick(stopping.signal);
      } catch (error) {
        // The lane itself copes with its chain. Whatever else happens, swaps in flight must be looked after.
        logger.error({ error: error instanceof Error ? error.message : String(error) }, "the relayer's lane failed");
      }
      await clock.sleep(POLL_MS, AbortSignal.any([stopping.signal, waking.signal]));
    }
  }

  async function nativeBalance(): Promise<bigint> {
    if (balance !== undefined && clock.monotonicMs() - balance.atMs < BALANCE_AGE_MS) return balance.wei;
    const wei = BigInt(String(await rpc.call("eth_getBalance", [options.account, "latest"])));
    balance = { wei, atMs: clock.monotonicMs() };
    return wei;
  }

  const running = loop();
  return {
    wake: () => waking.abort(),
    async isReady() {
      if (lane.halted() !== undefined) return false;
      return (await nativeBalance()) >= options.minimumNativeBalance;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
