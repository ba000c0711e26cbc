/** An account or contract address: `0x` and 40 lower-case hexadecimal digits. Checksums are checked at the border only. */
export type Address = `0x${string}` & { readonly __address: unique symbol };

/** Bytes as `0x` and an even number of hexadecimal digits. */
export type Hex = `0x${string}`;

/** How the service interface writes the native token of a network. */
export const NATIVE_TOKEN = "0x0000000000000000000000000000000000000000" as Address;

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;
const HEX_PATTERN = /^0x(?:[0-9a-fA-F]{2})*$/;

/** Whether the text has the shape of an address. Mixed case is accepted; the checksum is not checked. */
function isAddress(text: unknown): text is string {
  return typeof text === "string" && ADDRESS_PATTERN.test(text);
}

/** Whether the text is `0x` followed by whole bytes. */
export function isHex(text: unknown): text is Hex {
  return typeof text === "string" && HEX_PATTERN.test(text);
}

/** Parses an address into its one canonical form (lower case), or answers undefined. */
export function parseAddress(text: unknown): Address | undefined {
  return isAddress(text) ? (text.toLowerCase() as Address) : undefined;
}

/** The address as one word of calldata or a topic: 32 bytes. */
export function wordOf(address: Address): Hex {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

/** Like {@link parseAddress}, for text that the program itself wrote. @throws Error on anything else. */
export function toAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`not an address: ${JSON.stringify(text)}`);
  return address;
}
