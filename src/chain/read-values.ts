import { ChainReadError } from "../domain/chain-read-error.ts";
import { type Address, type Hex, isHex, parseAddress } from "../domain/money/address.ts";
import type { BlockHead, BlockTransaction, ChainLog, Receipt } from "../ports/chain.ts";
import { isComputed } from "./at-block/log-bloom.ts";
import { bloomOf } from "./logs-bloom.ts";
import { signedBytes } from "./signed-bytes.ts";

const QUANTITY_PATTERN = /^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/;
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

type Fields = Readonly<Record<string, unknown>>;

function malformed(what: string, value: unknown): ChainReadError {
  const shown = JSON.stringify(value)?.slice(0, 100) ?? "nothing";
  return new ChainReadError("malformed answer", `the node gave ${shown} for ${what}: check the RPC endpoint`);
}

/** An object of a node's answer. @throws ChainReadError */
export function readObject(value: unknown, what: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed(what, value);
  return value as Fields;
}

export function readArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(what, value);
  return value;
}

/** A quantity of the JSON-RPC encoding. @throws ChainReadError */
export function readQuantity(value: unknown, what: string): bigint {
  if (typeof value !== "string" || !QUANTITY_PATTERN.test(value)) throw malformed(what, value);
  return BigInt(value);
}

/** A quantity that is a count, a height or a time. @throws ChainReadError also when it is no safe integer */
export function readNumber(value: unknown, what: string): number {
  const number = Number(readQuantity(value, what));
  if (!Number.isSafeInteger(number)) throw malformed(what, value);
  return number;
}

export function readHash(value: unknown, what: string): Hex {
  if (typeof value !== "string" || !HASH_PATTERN.test(value)) throw malformed(what, value);
  return value.toLowerCase() as Hex;
}

export function readBytes(value: unknown, what: string): Hex {
  if (!isHex(value)) throw malformed(what, value);
  return value.toLowerCase() as Hex;
}

export function readAddress(value: unknown, what: string): Address {
  const address = parseAddress(value);
  if (address === undefined) throw malformed(what, value);
  return address;
}

/** A block header; undefined when the node knows no such block. @throws ChainReadError */
export function readBlock(value: unknown): BlockHead | undefined {
  if (value === null) return undefined;
  const block = readObject(value, "a block");
  return {
    number: readNumber(block.number, "a block's number"),
    hash: readHash(block.hash, "a block's hash"),
    timestamp: readNumber(block.timestamp, "a block's timestamp"),
    baseFeePerGas: readQuantity(block.baseFeePerGas, "a block's base fee"),
  };
}

/** What an account sent in a block that lists its transactions in full; undefined without the block. @throws ChainReadError */
export function readTransactionsOf(value: unknown, sender: Address): readonly BlockTransaction[] | undefined {
  if (value === null) return undefined;
  const all = readArray(readObject(value, "a block").transactions, "a block's transactions");
  return all
    .map((item) => readObject(item, "a transaction"))
    .filter(({ from }) => readAddress(from, "a transaction's sender") === sender)
    .map((listed) => readTransaction(listed, sender));
}

function readTransaction(listed: Readonly<Record<string, unknown>>, sender: Address): BlockTransaction {
  const { nonce, to, input, value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = listed;
  const hash = readHash(listed.hash, "a transaction's hash");
  const isPlain = maxFeePerGas === undefined || maxFeePerGas === null;
  return {
    hash,
    raw: signedBytes(listed, { hash, sender }),
    nonce: readNumber(nonce, "a transaction's nonce"),
    to: to === null ? undefined : readAddress(to, "a transaction's recipient"),
    data: readBytes(input, "a transaction's data"),
    value: readQuantity(value, "a transaction's value"),
    gasLimit: readQuantity(gas, "a transaction's gas"),
    fees: isPlain
      ? undefined
      : {
          maxFeePerGas: readQuantity(maxFeePerGas, "a transaction's fee"),
          maxPriorityFeePerGas: readQuantity(maxPriorityFeePerGas, "a transaction's tip"),
        },
    gasPrice: isPlain ? readQuantity(gasPrice, "a transaction's gas price") : undefined,
  };
}

export function readLog(value: unknown): ChainLog {
  const log = readObject(value, "a log");
  return {
    address: readAddress(log.address, "a log's address"),
    topics: readArray(log.topics, "a log's topics").map((topic) => readHash(topic, "a log's topic")),
    data: readBytes(log.data, "a log's data"),
    logIndex: readNumber(log.logIndex, "a log's index"),
  };
}

/**
 * The receipt of exactly the asked transaction; undefined when the node has none, or one without a block (a promise of a
 * block to come is no block).
 * @throws ChainReadError also when it is another transaction's
 */
export function readReceipt(value: unknown, hash: Hex): Receipt | undefined {
  if (value === null) return undefined;
  const receipt = readObject(value, "a receipt");
  if (receipt.blockHash === null || receipt.blockNumber === null) return undefined;
  const answered = readHash(receipt.transactionHash, "a receipt's transaction hash");
  if (answered !== hash.toLowerCase()) throw malformed(`the receipt of ${hash}`, answered);
  const status = readQuantity(receipt.status, "a receipt's status");
  if (status > 1n) throw malformed("a receipt's status", receipt.status);
  const gasUsed = readQuantity(receipt.gasUsed, "a receipt's gas");
  const dataFee = readDataFee(receipt, gasUsed);
  const logs = logsOf(receipt);
  return {
    hash: answered,
    blockNumber: readNumber(receipt.blockNumber, "a receipt's block number"),
    blockHash: readHash(receipt.blockHash, "a receipt's block hash"),
    succeeded: status === 1n,
    gasUsed,
    effectiveGasPrice: readQuantity(receipt.effectiveGasPrice, "a receipt's gas price"),
    ...(dataFee === undefined ? {} : { dataFee }),
    ...(receipt.from === undefined ? {} : { from: readAddress(receipt.from, "a receipt's sender") }),
    // What reverted moved nothing; that Polygon and zkSync list the fee among its logs is no doing of its own.
    logs: status === 1n ? logs : [],
  };
}

function logsOf(receipt: Fields): readonly ChainLog[] {
  return readArray(receipt.logs, "a receipt's logs").map(readLog);
}

/**
 * Whether nothing in it contradicts its logs. They are those of the receipt's own filter: else some were left out, or the
 * chain computes filters in another way; a node that computes none says nothing by an empty one. And a revert has none:
 * else it succeeded, or the chain lists the fee.
 */
export function fitsItsLogs(value: unknown): boolean {
  const receipt = readObject(value, "a receipt");
  const logs = logsOf(receipt);
  const { logsBloom } = receipt;
  if (logs.length > 0 && readQuantity(receipt.status, "a receipt's status") === 0n) return false;
  if (logsBloom === undefined || logsBloom === null) return true;
  const bloom = readBytes(logsBloom, "a receipt's filter of logs");
  return !isComputed(bloom) || bloom === bloomOf(logs);
}

/**
 * What a receipt of an OP Stack rollup says was charged on top of gas. The operator's two figures are only there where
 * one of them is not zero; since the Jovian upgrade, which `daFootprintGasScalar` shows, the scalar counts otherwise
 * (ethereum-optimism/specs@830d0e30 specs/experimental/contracts/L2/gas-price-oracle.md, getOperatorFee).
 */
function readDataFee(receipt: Fields, gasUsed: bigint): bigint | undefined {
  const { l1Fee, operatorFeeScalar, operatorFeeConstant, daFootprintGasScalar } = receipt;
  if (l1Fee === undefined || l1Fee === null) return undefined;
  const optional = (value: unknown, what: string) =>
    value === undefined || value === null ? 0n : readQuantity(value, what);
  const scalar = optional(operatorFeeScalar, "a receipt's operator fee");
  const isJovian = daFootprintGasScalar !== undefined && daFootprintGasScalar !== null;
  const operatorFee = isJovian ? gasUsed * scalar * 100n : (gasUsed * scalar) / 1_000_000n;
  return readQuantity(l1Fee, "a receipt's data fee") + operatorFee + optional(operatorFeeConstant, "an operator fee");
}
