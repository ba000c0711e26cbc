import { type Address, type Hex, toAddress } from "../money/address.ts";
import type { SafeCall } from "./multi-send.ts";

/**
 * A factory that everybody may use, with one address on every network. What it makes is found by what it is asked for, and
 * it reverts where that exists already.
 */
export const MARK_FACTORY = toAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C");

/** All of its code. */
export const MARK_FACTORY_CODE: Hex =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

/** Longest name of a place that a salt holds whole. */
const SALT_BYTES = 32;

/**
 * Makes an empty account whose address follows from the Safe and from the swap's place in its run. That exists from then on,
 * so that of all proposals for one place one is executed at most, with whatever nonce, and however often somebody tries.
 */
export function markCall(safe: Address, place: string): SafeCall {
  const bytes = [...place].map((letter) => (letter.codePointAt(0) ?? 0).toString(16).padStart(2, "0"));
  const salt = bytes
    .slice(-SALT_BYTES)
    .join("")
    .padStart(2 * SALT_BYTES, "0");
  // Its code does nothing: it pushes the Safe's address, and stops.
  return { to: MARK_FACTORY, value: 0n, data: `0x${salt}73${safe.slice(2)}00` };
}

/** The place of a swap in its run: all attempts at it have it in common. */
export function placeOf({ id }: { readonly id: string }): string {
  return id.slice(0, id.lastIndexOf("."));
}
