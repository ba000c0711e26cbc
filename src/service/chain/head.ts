import { z } from "zod";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { retryRead } from "../../net/retry-read.ts";

/** The newest block, and what gas costs on top of it. Fees in wei per gas. */
export interface Head {
  readonly number: number;
  readonly hash: string;
  /** Unix seconds by the chain's own clock */
  readonly timestamp: number;
  /** undefined on networks without EIP-1559 */
  readonly baseFeePerGas: bigint | undefined;
  readonly priorityFeePerGas: bigint;
  /** what a transaction pays if it is mined next: base fee and tip, or the legacy price */
  readonly gasPrice: bigint;
}

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text) => BigInt(text));

const blockSchema = z.object({
  number: quantity,
  hash: z.string(),
  timestamp: quantity,
  baseFeePerGas: quantity.optional(),
});

/** Reads the newest block and the fees in one round trip. @throws RpcError when the node does not answer */
export async function readHead(rpc: JsonRpc): Promise<Head> {
  const requests = [
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_gasPrice", params: [] },
    { method: "eth_maxPriorityFeePerGas", params: [] },
  ];
  const [block, price, tip] = await retryRead(() => rpc.batch(requests), {
    retries: 2,
    minDelayMs: 50,
    maxDelayMs: 400,
  });
  if (block instanceof RpcError) throw block;
  if (price instanceof RpcError) throw price;
  const { number, hash, timestamp, baseFeePerGas } = blockSchema.parse(block);
  const legacyPrice = quantity.parse(price);
  // Older nodes do not know the method; then the legacy price says what they would tip.
  const fallbackTip = legacyPrice > (baseFeePerGas ?? 0n) ? legacyPrice - (baseFeePerGas ?? 0n) : 0n;
  const priorityFeePerGas = tip instanceof RpcError ? fallbackTip : quantity.parse(tip);
  return {
    number: Number(number),
    hash,
    timestamp: Number(timestamp),
    baseFeePerGas,
    priorityFeePerGas,
    gasPrice: baseFeePerGas === undefined ? legacyPrice : baseFeePerGas + priorityFeePerGas,
  };
}
