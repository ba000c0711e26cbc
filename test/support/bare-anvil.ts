import { onTestFinished } from "vitest";
import { createJsonRpc, type JsonRpc } from "../../src/chain/json-rpc.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import * as anvil from "./anvil.ts";

/** The first two accounts of anvil's well-known mnemonic: public keys to public money. */
export const ANVIL_ACCOUNT: Address = toAddress("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
export const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
export const OTHER_ACCOUNT: Address = toAddress("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");

/** A chain that a test moves by hand. */
export interface BareAnvil {
  readonly url: string;
  readonly rpc: JsonRpc;
  mine(blocks?: number): Promise<void>;
  /** Replaces the last `depth` blocks; each raw transaction goes into the new block with that offset. */
  reorg(depth: number, transactions?: readonly (readonly [Hex, number])[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts an empty chain whose finalized block is two below its tip. Blocks come only from `mine`. It is stopped
 * when the running test ends.
 */
export async function startBareAnvil(options: { chainId?: number } = {}): Promise<BareAnvil> {
  const { rpcUrl: url, stop } = await anvil.startBareAnvil({ ...options, onDemand: true });
  onTestFinished(stop);
  const rpc = createJsonRpc({ url, timeoutMs: 10_000, maxBytes: 10_000_000 });
  return {
    url,
    rpc,
    stop,
    mine: async (blocks = 1) => void (await rpc.call("anvil_mine", [`0x${blocks.toString(16)}`])),
    reorg: async (depth, transactions = []) => void (await rpc.call("anvil_reorg", [depth, transactions])),
  };
}
