import { smaller } from "../../domain/money/bigint.ts";
/**
 * What the EVM charges for touching state, and gives back, since the rules of Berlin and London (EIP-2929, EIP-2200 with
 * EIP-3529). Everything in this folder is made of these and of work that was read off traces of our own contracts.
 */

/** The first touch of an account in a transaction, and each later one. */
export const COLD_ACCOUNT = 2_600n;
export const WARM_ACCOUNT = 100n;

/** The first read of a slot in a transaction, and each later one; also each write to a slot already written to. */
export const COLD_SLOT = 2_100n;
export const WARM_SLOT = 100n;

/** The first write to a slot that was read before: from zero, and from anything else. */
export const FILL_SLOT = 20_000n;
export const CHANGE_SLOT = 2_900n;

/** What a slot costs that was zero, beyond one that was not. */
export const FIRST_VALUE = FILL_SLOT - CHANGE_SLOT;

/** Given back for a slot that ends at zero, and for one that is written and ends as it began: zero, or another value. */
export const EMPTIED_REFUND = 4_800n;
export const BACK_TO_ZERO_REFUND = 19_900n;
export const BACK_TO_VALUE_REFUND = 2_800n;

/** Native token sent along with a call, and an account that begins to exist by it. */
export const VALUE_TRANSFER = 9_000n;
export const NEW_ACCOUNT = 25_000n;

const TRANSACTION = 21_000n;
const ZERO_BYTE = 4n;
const OTHER_BYTE = 16n;
/** The character code of "0". */
const ZERO_DIGIT = 48;

/** What is given back is at most this part of what is used. */
const REFUND_SHARE = 5n;

/** Gas of a part of a transaction: what it uses, and what of that it is given back at the end. */
export interface Gas {
  readonly used: bigint;
  readonly refund: bigint;
}

export function addGas(...parts: readonly Gas[]): Gas {
  return parts.reduce((sum, { used, refund }) => ({ used: sum.used + used, refund: sum.refund + refund }), {
    used: 0n,
    refund: 0n,
  });
}

/** What a receipt says of a whole transaction. */
export function paidGas({ used, refund }: Gas): bigint {
  const most = used / REFUND_SHARE;
  return used - smaller(refund, most);
}

/**
 * What a transaction costs before it runs. Its calldata has a floor too (EIP-7623), which a swap never comes near: it
 * would have to use less than four times of what is charged for its bytes.
 */
export function startGas(data: string): bigint {
  // Counted in numbers, since every quote counts some thousand bytes.
  let zeros = 0;
  for (let place = 2; place < data.length; place += 2) {
    if (data.charCodeAt(place) === ZERO_DIGIT && data.charCodeAt(place + 1) === ZERO_DIGIT) zeros += 1;
  }
  const others = (data.length - 2) / 2 - zeros;
  return TRANSACTION + BigInt(zeros) * ZERO_BYTE + BigInt(others) * OTHER_BYTE;
}
