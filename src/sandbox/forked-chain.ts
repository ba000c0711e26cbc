import { findAnvil } from "./anvil-binary.ts";
import { startAnvil } from "./anvil-process.ts";
import { startBlockProducer } from "./block-producer.ts";
import { readForkChainId } from "./fork.ts";
import { claimPort } from "./free-port.ts";
import type { Rpc } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";

/** A copy of a chain as it stands, with its own chain id, that goes on by itself on loopback. */
export interface ForkedChain {
  readonly rpc: Rpc;
  /** the block from which on it is another chain */
  readonly block: number;
  /** Ends the chain; process and port are gone afterwards. Calling it again is harmless. */
  stop(): Promise<void>;
  /** Resolves when the chain's process ends by itself. It never rejects. */
  readonly failed: Promise<Error>;
}

const START_TIMEOUT_MS = 60_000;

/**
 * Starts a copy of the chain that the endpoint serves. Nothing moves its market but who trades on it, and its feeds age.
 * @throws SandboxError `FORK_UNREACHABLE`, or `FORK_UNSUPPORTED` where it is another chain than the wanted one
 */
export async function startForkedChain(options: {
  /** a secret, it may carry a key */
  readonly forkUrl: string;
  readonly chainId: number;
  readonly port: number;
  readonly blockTimeSeconds: number;
  onError(error: Error): void;
}): Promise<ForkedChain> {
  const { forkUrl, chainId, blockTimeSeconds, onError } = options;
  const served = await readForkChainId(forkUrl);
  if (served !== chainId) {
    const message = `The endpoint to fork from serves chain ${served}, the configuration is of chain ${chainId}. Fork from one of that chain.`;
    throw new SandboxError("FORK_UNSUPPORTED", message);
  }
  const anvil = await startAnvil({
    binary: findAnvil(),
    port: await claimPort(options.port),
    // Finality two blocks behind the tip, as in the sandbox.
    arguments: ["--no-mining", "--slots-in-an-epoch", "1", "--chain-id", String(chainId)],
    startTimeoutMs: START_TIMEOUT_MS,
    forkUrl,
  });
  try {
    const block = Number(await anvil.rpc.call("eth_blockNumber"));
    const producer = startBlockProducer(anvil.rpc, { blockTimeMs: blockTimeSeconds * 1_000, paused: true, onError });
    void anvil.failed.then(() => producer.stop());
    const stop = async (): Promise<void> => {
      await producer.stop();
      await anvil.stop();
    };
    let stopping: Promise<void> | undefined;
    return {
      rpc: anvil.rpc,
      block,
      failed: anvil.failed,
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}
