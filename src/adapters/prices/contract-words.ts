import type { Hex } from "../../domain/money/address.ts";
import type { Chain } from "../../ports/chain.ts";

const WORD = 64;

/** Calls a view and reads its answer as words of 32 bytes. @returns undefined when it reverts, or answers less than asked */
export async function readWords(
  chain: Chain,
  call: { readonly to: Parameters<Chain["call"]>[0]["to"]; readonly data: Hex; readonly words: number },
): Promise<readonly bigint[] | undefined> {
  const answer = await chain.call({ to: call.to, data: call.data });
  if (answer === undefined || answer.length < 2 + call.words * WORD || (answer.length - 2) % WORD !== 0)
    return undefined;
  return Array.from({ length: (answer.length - 2) / WORD }, (_, index) =>
    BigInt(`0x${answer.slice(2 + index * WORD, 2 + (index + 1) * WORD)}`),
  );
}

/** A word as a signed number. */
export function signed(word: bigint | undefined): bigint {
  return BigInt.asIntN(256, word ?? 0n);
}

/** The one word of 32 bytes that an address or a number becomes as an argument. */
export function argument(value: Hex | bigint): string {
  return (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(WORD, "0");
}
