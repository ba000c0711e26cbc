import type { SwapMessage } from "./swap-message.ts";

/** A permit inside a packed call. */
export interface PackedPermit {
  readonly v: number;
  readonly r: string;
  readonly s: string;
  readonly deadline: bigint;
}

const SELECTORS = { service: "73fc4457", user: "25e651ed" };
/** The packed bytes start here, counted from the first byte of the selector. */
const BODY_START = 68;

/** Encodes a call of the router: who signed decides the entry point. */
export function packCall(
  signer: "service" | "user",
  message: SwapMessage,
  parts: { signature: { v: number; r: string; s: string }; permit?: PackedPermit | undefined },
): string {
  const head: string[] = [];
  const values: string[] = [];
  const headBytes = 142 + (parts.permit === undefined ? 0 : 67) + (message.affiliate === undefined ? 0 : 23) + 1;
  let valueAt = BODY_START + headBytes;
  const pointer = (value: bigint): string => {
    const bytes = value.toString(16);
    const trimmed = bytes.length % 2 === 0 ? bytes : `0${bytes}`;
    const shift = 256 - trimmed.length * 4;
    const encoded = shift.toString(16).padStart(2, "0") + valueAt.toString(16).padStart(4, "0");
    values.push(trimmed);
    valueAt += trimmed.length / 2;
    return encoded;
  };
  head.push("00000000", bare(message.recipient), bare(message.fromAsset), bare(message.toAsset));
  head.push(
    pointer(message.deadline),
    pointer(message.amountOutMin),
    pointer(message.swapFee),
    pointer(message.amountIn),
  );
  head.push(bare(parts.signature.r), bare(parts.signature.s), byte(parts.signature.v));
  const { permit } = parts;
  if (permit === undefined) head.push("00");
  else head.push(byte(permit.v), bare(permit.r), bare(permit.s), pointer(permit.deadline));
  const { affiliate } = message;
  if (affiliate === undefined) head.push("00");
  else head.push("01", bare(affiliate.address), pointer(affiliate.fee));
  const body = head.join("") + values.join("");
  if (head.join("").length !== headBytes * 2) throw new Error("the packed head has another length than planned");
  const length = body.length / 2;
  const padded = body.padEnd(Math.ceil(length / 32) * 64, "0");
  return `0x${SELECTORS[signer]}${word(32)}${word(length)}${padded}`;
}

function bare(hex: string): string {
  return hex.slice(2).toLowerCase();
}

function byte(value: number): string {
  return value.toString(16).padStart(2, "0");
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}
