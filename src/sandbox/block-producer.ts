import { setTimeout as sleep } from "node:timers/promises";
import type { Rpc } from "./rpc.ts";

/** What happens in each block besides the transactions of others. Both end before the block is mined. */
interface BlockContents {
  prepareBlock(): Promise<void>;
  prepareHeartbeat(): Promise<void>;
}

/** Mines one block after another, the market's transactions in it. */
interface BlockProducer {
  /** The market rests; blocks go on, and feeds keep their heartbeat. */
  pause(): void;
  resume(): void;
  /** Mines one block with the market's transactions in it, now, whether it rests or not. */
  step(): Promise<void>;
  /** Mines no more. Resolves when the block at hand is done. */
  stop(): Promise<void>;
}

interface BlockProducerOptions {
  /** Without it blocks hold nothing but what others send. */
  readonly contents?: BlockContents;
  /** 0: no blocks but those of `step`. */
  readonly blockTimeMs: number;
  readonly paused: boolean;
  readonly onError: (error: Error) => void;
}

/** How old a feed's price may get while the market rests. */
const HEARTBEAT_MS = 10_000;

/**
 * Blocks are made here and not by the node's own clock: so a block holds exactly the market's transactions of its
 * number, and block times below a second are possible. An error is reported and costs the market one block, never the
 * chain its pace.
 */
export function startBlockProducer(rpc: Rpc, options: BlockProducerOptions): BlockProducer {
  const { contents, blockTimeMs, onError } = options;
  const stopping = new AbortController();
  let paused = options.paused;
  let publishedAt = performance.now();
  let turn: Promise<void> = Promise.resolve();

  async function prepare(moving: boolean): Promise<void> {
    if (contents === undefined) return;
    if (!moving && performance.now() - publishedAt < HEARTBEAT_MS) return;
    await (moving ? contents.prepareBlock() : contents.prepareHeartbeat());
    publishedAt = performance.now();
  }

  /** Blocks never overlap: one waits for the other. */
  function produce(moving: () => boolean): Promise<void> {
    const next = turn.then(async () => {
      try {
        await prepare(moving());
      } finally {
        await rpc.call("evm_mine");
      }
    });
    // The chain of turns goes on after an error; the caller that asked for the block gets it.
    turn = next.catch(() => undefined);
    return next;
  }

  async function run(): Promise<void> {
    let due = performance.now();
    while (!stopping.signal.aborted) {
      // A block that came late does not make the following ones come early.
      due = Math.max(due + blockTimeMs, performance.now());
      await sleep(Math.max(0, due - performance.now()), undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      await produce(() => !paused).catch((error: unknown) => {
        if (!stopping.signal.aborted) onError(error instanceof Error ? error : new Error(String(error)));
      });
    }
  }

  const running = blockTimeMs > 0 ? run() : Promise.resolve();
  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    step: () => produce(() => true),
    stop: async () => {
      stopping.abort();
      await running;
      await turn;
    },
  };
}
