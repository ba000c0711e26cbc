import type { DecodedSwap } from "../../../domain/guard/decoded-swap.ts";
import type { Address, Hex } from "../../../domain/money/address.ts";

/** What the head of a packed swap call says. The bytes after it are the route, which only the router can read. */
export interface PackedSwap {
  readonly order: Pick<
    DecodedSwap,
    "recipient" | "fromAsset" | "toAsset" | "deadline" | "amountOutMin" | "swapFee" | "amountIn"
  >;
  readonly affiliate: { readonly address: Address; readonly fee: bigint } | undefined;
  /** a permit follows the signature */
  readonly permit: boolean;
  /** the signature over the order, 65 bytes: r, s, v */
  readonly signature: Hex;
}

type PackedSwapResult =
  | { readonly ok: true; readonly call: PackedSwap }
  | { readonly ok: false; readonly problem: string };

/** Positions count from the first byte of the selector: 4 bytes of it, then two words of ABI head. */
const BODY_START = 68;
const AT = {
  recipient: 72,
  fromAsset: 92,
  toAsset: 112,
  deadline: 132,
  amountOutMin: 135,
  swapFee: 138,
  amountIn: 141,
  signature: 144,
  permitV: 209,
} as const;
const SIGNATURE_BYTES = 65;
const PERMIT_BYTES = 67;
const AFFILIATE_BYTES = 23;

/**
 * Reads the head of a call with one packed `bytes` argument. The argument must be encoded canonically, so that the
 * contract, which reads fixed positions, sees the same bytes.
 */
export function readPackedSwap(data: Hex): PackedSwapResult {
  const bytes = Buffer.from(data.slice(2), "hex");
  const problem = argumentProblem(bytes);
  if (problem !== undefined) return { ok: false, problem };
  const permitV = bytes[AT.permitV] ?? 0;
  const affiliateFlagAt = AT.permitV + 1 + (permitV === 0 ? 0 : PERMIT_BYTES);
  const affiliateFlag = bytes[affiliateFlagAt];
  const headEnd = affiliateFlagAt + 1 + (affiliateFlag === 1 ? AFFILIATE_BYTES : 0);
  if (affiliateFlag === undefined || headEnd > bytes.length) {
    return { ok: false, problem: `the packed argument ends before its head does (${bytes.length} bytes)` };
  }
  if (affiliateFlag > 1)
    return { ok: false, problem: `the affiliate flag is ${affiliateFlag}, only 0 and 1 are known` };
  return {
    ok: true,
    call: {
      order: {
        recipient: addressAt(bytes, AT.recipient),
        fromAsset: addressAt(bytes, AT.fromAsset),
        toAsset: addressAt(bytes, AT.toAsset),
        deadline: pointedValue(bytes, AT.deadline),
        amountOutMin: pointedValue(bytes, AT.amountOutMin),
        swapFee: pointedValue(bytes, AT.swapFee),
        amountIn: pointedValue(bytes, AT.amountIn),
      },
      affiliate:
        affiliateFlag === 1
          ? {
              address: addressAt(bytes, affiliateFlagAt + 1),
              fee: pointedValue(bytes, affiliateFlagAt + 21),
            }
          : undefined,
      permit: permitV !== 0,
      signature: `0x${bytes.subarray(AT.signature, AT.signature + SIGNATURE_BYTES).toString("hex")}`,
    },
  };
}

function argumentProblem(bytes: Buffer): string | undefined {
  if (bytes.length < AT.permitV + 2) return `the calldata has ${bytes.length} bytes, too few for a packed swap`;
  if (wordAt(bytes, 4) !== 32n) return "the packed argument does not start right after its offset";
  const length = wordAt(bytes, 36);
  const padded = ((length + 31n) / 32n) * 32n;
  if (BigInt(BODY_START) + padded !== BigInt(bytes.length)) {
    return `the packed argument says ${length} bytes, but the calldata has ${bytes.length - BODY_START}`;
  }
  const bodyEnd = BODY_START + Number(length);
  if (bytes.subarray(bodyEnd).some((byte) => byte !== 0)) return "bytes hide in the padding of the packed argument";
  if (bodyEnd < AT.permitV + 2) return `the packed argument has ${length} bytes, too few for a packed swap`;
  return undefined;
}

/**
 * A pointer is one shift byte and two bytes of position. Its value: the 32 bytes at the position, zero-padded past the
 * end, shifted right by the shift byte.
 */
function pointedValue(bytes: Buffer, at: number): bigint {
  const shift = bytes.readUInt8(at);
  return wordAt(bytes, bytes.readUInt16BE(at + 1)) >> BigInt(shift);
}

function wordAt(bytes: Buffer, at: number): bigint {
  const word = bytes
    .subarray(at, at + 32)
    .toString("hex")
    .padEnd(64, "0");
  return BigInt(`0x${word}`);
}

function addressAt(bytes: Buffer, at: number): Address {
  return `0x${bytes.subarray(at, at + 20).toString("hex")}` as Address;
}
