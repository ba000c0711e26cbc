import { type Address, type Hex, toAddress } from "../money/address.ts";

/** One call that a Safe makes. */
export interface SafeCall {
  readonly to: Address;
  readonly value: bigint;
  readonly data: Hex;
}

const MULTI_SEND = "0x8d80ff0a";
const CALL = "00";

/** Calldata of `multiSend(bytes)` of these calls. */
export function encodeMultiSend(calls: readonly SafeCall[]): Hex {
  const packed = calls.map(({ to, value, data }) => {
    const length = word(BigInt((data.length - 2) / 2));
    return `${CALL}${to.slice(2)}${word(value)}${length}${data.slice(2)}`;
  });
  const bytes = packed.join("");
  const length = bytes.length / 2;
  return `${MULTI_SEND}${word(32n)}${word(BigInt(length))}${bytes}${"00".repeat((32 - (length % 32)) % 32)}`;
}

/** A call's operation, address, value and length, in digits. */
const HEAD = /^([0-9a-f]{2})([0-9a-f]{40})([0-9a-f]{64})([0-9a-f]{64})/;

/** Reads what {@link encodeMultiSend} writes. @returns why it is anything else */
export function decodeMultiSend(data: Hex): readonly SafeCall[] | { readonly problem: string } {
  const calls: SafeCall[] = [];
  const head = `${MULTI_SEND}${word(32n)}`;
  if (!data.startsWith(head)) return { problem: "this is no call of multiSend" };
  const size = lengthOf(data.slice(head.length, head.length + 64));
  let rest = data.slice(head.length + 64, head.length + 64 + 2 * size);
  if (rest.length !== 2 * size) return { problem: "its calls are cut off" };
  while (rest !== "") {
    const [read, operation, to, value, length] = HEAD.exec(rest) ?? [];
    if (read === undefined) return { problem: "a call of it is cut off" };
    if (operation !== CALL) return { problem: `a call of it has the operation ${operation}` };
    const digits = 2 * lengthOf(length ?? "");
    const body = rest.slice(read.length, read.length + digits);
    if (body.length !== digits) return { problem: "a call of it is cut off" };
    calls.push({ to: toAddress(`0x${to}`), value: BigInt(`0x${value}`), data: `0x${body}` });
    rest = rest.slice(read.length + digits);
  }
  if (encodeMultiSend(calls) !== data) return { problem: "there is more in it than its calls" };
  return calls;
}

/** More than any calldata has is as good as cut off. */
function lengthOf(digits: string): number {
  const length = BigInt(`0x${digits === "" ? "0" : digits}`);
  return length > 1_000_000n ? Number.MAX_SAFE_INTEGER / 4 : Number(length);
}

function word(number: bigint): string {
  return number.toString(16).padStart(64, "0");
}
