import { keccak256 } from "ethers";
import type { WordText } from "../at-block/words.ts";

/** Keccak-256 of words one after the other, which is what Solidity makes of a struct, or of a place in a mapping. */
export function hashWords(...words: readonly WordText[]): WordText {
  return keccak256(`0x${words.join("")}`).slice(2) as WordText;
}
