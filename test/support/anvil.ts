import { findAnvil } from "../../src/sandbox/anvil-binary.ts";
import { type Anvil, startAnvil } from "../../src/sandbox/anvil-process.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";

interface BareAnvilOptions {
  /** Seconds between blocks, fractions allowed. Without it every transaction gets a block at once. */
  readonly blockTimeSeconds?: number;
  /** True: no block but those of `evm_mine`. */
  readonly onDemand?: boolean;
  /** Default 31337. */
  readonly chainId?: number;
  /** More of anvil's own flags. */
  readonly flags?: readonly string[];
}

export interface BareAnvil extends Anvil {
  readonly rpcUrl: string;
  readonly port: number;
  readonly chainId: number;
}

/**
 * A chain with nothing on it but anvil's ten funded accounts, on a free port, with finality two blocks behind the tip.
 * It ends with the test process, however that ends; `stop` it all the same.
 */
export async function startBareAnvil(options: BareAnvilOptions = {}): Promise<BareAnvil> {
  const port = await claimPort(0);
  const chainId = options.chainId ?? 31337;
  const flags = ["--slots-in-an-epoch", "1", "--chain-id", String(chainId)];
  if (options.blockTimeSeconds !== undefined) flags.push("--block-time", String(options.blockTimeSeconds));
  if (options.onDemand === true) flags.push("--no-mining");
  flags.push(...(options.flags ?? []));
  const anvil = await startAnvil({ binary: findAnvil(), port, arguments: flags, startTimeoutMs: 30_000 });
  return { ...anvil, rpcUrl: anvil.rpc.url, port, chainId };
}
