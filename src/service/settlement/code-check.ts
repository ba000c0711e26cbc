import { encodeBytes32String, id, TypedDataEncoder } from "ethers";
import type { Address, Hex } from "../../domain/money/address.ts";
import type { Protocol } from "../pools/pool.ts";
import { settlementDomain } from "./order.ts";

const PUSH1 = 0x60;
const PUSH32 = 0x7f;
const WORD_BYTES = 32;

/**
 * Checks deployed code against the compiled one. Immutables are written into the code when a contract is created: where
 * the compiled code pushes a word of zeros (the compiler has a shorter instruction for a zero of the source), any value
 * may stand, and every such value must be one of the expected.
 * @returns what is different, undefined when nothing is
 */
export function differenceOf(deployed: Hex, compiled: Hex, immutables: ReadonlySet<bigint>): string | undefined {
  const actual = bytesOf(deployed);
  const wanted = bytesOf(compiled);
  if (actual.length === 0) return "there is no code";
  if (actual.length !== wanted.length) return `the code has ${actual.length} bytes, ours has ${wanted.length}`;
  for (let at = 0; at < wanted.length; at += 1) {
    if (actual[at] !== wanted[at]) return `the code differs from ours at byte ${at}`;
    const size = operandSize(wanted[at] ?? 0);
    const operand = (bytes: Uint8Array): bigint => wordOf(bytes.subarray(at + 1, at + 1 + size));
    const [value, expected] = [operand(actual), operand(wanted)];
    const isImmutable = size === WORD_BYTES && expected === 0n;
    if (isImmutable && !immutables.has(value)) return `the code has the unexpected value ${value} at byte ${at + 1}`;
    if (!isImmutable && value !== expected) return `the code differs from ours at byte ${at + 1}`;
    at += size;
  }
  return undefined;
}

function operandSize(opcode: number): number {
  return opcode < PUSH1 || opcode > PUSH32 ? 0 : opcode - PUSH1 + 1;
}

/** What may stand in the settlement's code: its own immutables and those of its EIP-712 domain. */
export function settlementImmutables(facts: {
  chainId: number;
  address: Address;
  wrappedNative: Address;
  executor: Address;
}): ReadonlySet<bigint> {
  const { chainId, address } = facts;
  const { name, version } = settlementDomain({ chainId, address });
  const separator = TypedDataEncoder.hashDomain(settlementDomain({ chainId, address }));
  // OpenZeppelin's short strings end with their length.
  const short = (text: string): bigint => BigInt(encodeBytes32String(text)) | BigInt(text.length);
  return new Set([
    ...[facts.wrappedNative, facts.executor, address, id(name), id(version), separator].map(BigInt),
    ...[name, version].map(short),
    BigInt(chainId),
  ]);
}

/** What may stand in the executor's code. */
export function executorImmutables(facts: {
  wrappedNative: Address;
  /** as the executor lists them */
  protocols: readonly Protocol[];
}): ReadonlySet<bigint> {
  const entries = facts.protocols.flatMap(({ kind, factory, feePips, initCodeHash = "0x0" }) => {
    return [(BigInt(kind) << 184n) | (BigInt(feePips) << 160n) | BigInt(factory), BigInt(initCodeHash)];
  });
  // Places of the list that are free hold nothing.
  return new Set([BigInt(facts.wrappedNative), BigInt(facts.protocols.length), ...entries, 0n]);
}

function bytesOf(hex: Hex): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), "hex"));
}

function wordOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
