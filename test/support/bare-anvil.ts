import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import { createJsonRpc, type JsonRpc, RpcError } from "../../src/net/json-rpc.ts";
import { freePort } from "./free-port.ts";

/** The first two accounts of anvil's well-known mnemonic: public keys to public money. */
export const ANVIL_ACCOUNT: Address = toAddress("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
export const ANVIL_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
export const OTHER_ACCOUNT: Address = toAddress("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");

export interface BareAnvil {
  readonly url: string;
  readonly rpc: JsonRpc;
  mine(blocks?: number): Promise<void>;
  /** Replaces the last `depth` blocks; each raw transaction goes into the new block with that offset. */
  reorg(depth: number, transactions?: readonly (readonly [Hex, number])[]): Promise<void>;
  stop(): Promise<void>;
}

const ANVIL = fileURLToPath(new URL("../../node_modules/.bin/anvil", import.meta.url));

/**
 * Starts an empty chain whose finalized block is two below its tip. Blocks come only from `mine`, or with
 * `automine` for each transaction. It is stopped when the running test ends.
 */
export async function startBareAnvil(
  options: { automine?: boolean; args?: readonly string[] } = {},
): Promise<BareAnvil> {
  const port = await freePort();
  const flags = ["--host", "127.0.0.1", "--port", String(port), "--slots-in-an-epoch", "1", "--silent"];
  if (options.automine !== true) flags.push("--no-mining");
  const child = spawn(ANVIL, [...flags, ...(options.args ?? [])], { stdio: "ignore" });
  const stop = () => stopProcess(child);
  onTestFinished(stop);
  const url = `http://127.0.0.1:${port}`;
  const rpc = createJsonRpc({ url, timeoutMs: 10_000, maxBytes: 10_000_000 });
  await waitUntilUp(rpc, child);
  return {
    url,
    rpc,
    stop,
    mine: async (blocks = 1) => void (await rpc.call("anvil_mine", [`0x${blocks.toString(16)}`])),
    reorg: async (depth, transactions = []) => void (await rpc.call("anvil_reorg", [depth, transactions])),
  };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function waitUntilUp(rpc: JsonRpc, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (child.exitCode !== null) throw new Error(`anvil ended with ${child.exitCode}`);
    try {
      await rpc.call("eth_chainId", []);
      return;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  throw new Error("anvil did not answer within 10 seconds");
}
