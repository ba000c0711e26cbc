import { z } from "zod";
import { type Hex, isHex } from "../../domain/money/address.ts";
import { retryRead } from "../../net/retry-read.ts";
import { type JsonRpc, RpcError } from "../json-rpc.ts";
import { mayPassSoon } from "../node-errors.ts";
import { WrongChainError } from "../unusable-chain.ts";

/** A block, as far as reads at it and comparisons with others need it. */
export interface BlockHeader {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds by the chain's own clock */
  readonly timestamp: number;
  /** which logs may be in the block; all zero on networks that do not compute it */
  readonly logsBloom: Hex;
}

/** The newest block, and what gas costs on top of it. Fees in wei per gas. */
export interface Head extends BlockHeader {
  /** undefined on networks without EIP-1559 */
  readonly baseFeePerGas: bigint | undefined;
  readonly priorityFeePerGas: bigint;
  /** what a transaction pays if it is mined next: base fee and tip, or the legacy price */
  readonly gasPrice: bigint;
}

/** The node answered with something that no node says: proves as little as no answer. */
export function malformedAnswer(host: string, detail: string): RpcError {
  return new RpcError({ kind: "transport", host, message: `${host}: ${detail}` });
}

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform((text) => BigInt(text));

const hash = z.custom<Hex>((value) => isHex(value) && value.length === 66);
const bloom = z.custom<Hex>((value) => isHex(value) && value.length === 514);

const blockSchema = z.object({
  number: quantity,
  hash,
  parentHash: hash,
  timestamp: quantity,
  logsBloom: bloom.nullish(),
  baseFeePerGas: quantity.nullish(),
});

const NO_BLOOM: Hex = `0x${"00".repeat(256)}`;

/** Reads of one block are asked again soon, or not at all: the next block comes. */
export const RETRIES = { retries: 2, minDelayMs: 50, maxDelayMs: 400 };

/** Reads a block as a node describes it; undefined when the node does not know it. @throws RpcError */
export function parseBlock(host: string, answer: unknown): (BlockHeader & { baseFeePerGas?: bigint }) | undefined {
  if (answer instanceof RpcError) throw answer;
  if (answer === null) return undefined;
  const parsed = blockSchema.safeParse(answer);
  if (!parsed.success) throw malformedAnswer(host, "the node's description of a block is malformed");
  const { number, timestamp, logsBloom, baseFeePerGas, ...hashes } = parsed.data;
  return {
    ...hashes,
    logsBloom: logsBloom ?? NO_BLOOM,
    number: Number(number),
    timestamp: Number(timestamp),
    // Some nodes write what a network does not have as null.
    ...(baseFeePerGas === undefined || baseFeePerGas === null ? {} : { baseFeePerGas }),
  };
}

/** Reads a number as nodes write them. @throws RpcError */
export function parseQuantity(host: string, answer: unknown): bigint {
  if (answer instanceof RpcError) throw answer;
  const parsed = quantity.safeParse(answer);
  if (!parsed.success) throw malformedAnswer(host, "the node's answer is no number");
  return parsed.data;
}

/**
 * Reads the newest block and the fees in one round trip.
 * @param chainId the chain that the node must serve
 * @throws WrongChainError, or RpcError when the node does not answer properly
 */
export async function readHead(rpc: JsonRpc, chainId?: number): Promise<Head> {
  const requests = [
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_gasPrice", params: [] },
    { method: "eth_maxPriorityFeePerGas", params: [] },
    { method: "eth_chainId", params: [] },
  ];
  const isTransient = (error: Error) =>
    error instanceof RpcError && !(error instanceof WrongChainError) && mayPassSoon(error);
  return retryRead(async () => toHead(rpc.host, await rpc.batch(requests), chainId), { ...RETRIES, isTransient });
}

function toHead(host: string, answers: readonly unknown[], chainId: number | undefined): Head {
  const [block, price, tip, chain] = answers;
  const actual = parseQuantity(host, chain);
  if (chainId !== undefined && actual !== BigInt(chainId)) throw new WrongChainError(host, { actual, wanted: chainId });
  const header = parseBlock(host, block);
  if (header === undefined) throw malformedAnswer(host, "the node has no newest block");
  const legacyPrice = parseQuantity(host, price);
  const { baseFeePerGas } = header;
  // Older nodes do not know the method; then the legacy price says what they would tip.
  const fallbackTip = legacyPrice > (baseFeePerGas ?? 0n) ? legacyPrice - (baseFeePerGas ?? 0n) : 0n;
  const priorityFeePerGas = tip instanceof RpcError || tip === null ? fallbackTip : parseQuantity(host, tip);
  const gasPrice = baseFeePerGas === undefined ? legacyPrice : baseFeePerGas + priorityFeePerGas;
  return { ...header, baseFeePerGas, priorityFeePerGas, gasPrice };
}
