import { getAddress } from "ethers";
import { type Address, parseAddress } from "../../domain/money/address.ts";

/**
 * Reads an address that a service wrote. Digits in one case have no checksum; in mixed case it must be right (EIP-55):
 * a wrong one says that a digit was changed on the way.
 */
export function parseChecked(text: unknown): Address | undefined {
  const address = parseAddress(text);
  if (address === undefined || text === address) return address;
  const digits = String(text).slice(2);
  return digits === digits.toUpperCase() || getAddress(address) === text ? address : undefined;
}
