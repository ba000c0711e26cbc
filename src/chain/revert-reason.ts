import { AbiCoder } from "ethers";

const ERROR_SELECTOR = "0x08c379a0";
const PANIC_SELECTOR = "0x4e487b71";
const LONGEST_REASON = 200;

/** Reads revert data for people: the contract's words, a panic code, or the selector of a custom error. */
export function revertReason(data: unknown, nodeMessage: string | undefined): string {
  const fallback = nodeMessage ?? "reverted without a reason";
  if (typeof data !== "string" || !/^0x[0-9a-f]{8,}$/i.test(data)) return fallback;
  const selector = data.slice(0, 10).toLowerCase();
  const body = `0x${data.slice(10)}`;
  try {
    if (selector === ERROR_SELECTOR) {
      return String(AbiCoder.defaultAbiCoder().decode(["string"], body)[0]).slice(0, LONGEST_REASON);
    }
    if (selector === PANIC_SELECTOR) {
      return `panic ${String(AbiCoder.defaultAbiCoder().decode(["uint256"], body)[0])}`;
    }
  } catch {
    return `undecodable revert data with selector ${selector}`;
  }
  return `custom error ${selector}`;
}
