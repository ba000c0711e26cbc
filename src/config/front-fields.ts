import { isIP, isIPv6 } from "node:net";
import { z } from "zod";

/** Fields of what stands between callers and our own service. */

const ANY_ORIGIN = "*";

/** An IP address, or a network in CIDR notation. */
export const proxyNetwork = z
  .string({ error: 'needs an address or a network in quotes, for example "10.0.0.0/8"' })
  .refine(isNetwork, { error: 'is no IP address and no network; write for example "10.0.0.0/8"' });

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  if (rest.length > 0 || isIP(address) === 0) return false;
  if (bits === undefined) return true;
  // A network of no bits would let every caller choose an address.
  const longest = isIPv6(address) ? 128 : 32;
  return /^[0-9]{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= longest;
}

/** An origin as browsers send it: scheme, host and port, nothing behind. */
export const origin = z
  .string({ error: 'needs an origin in quotes, for example "https://app.example"' })
  .refine((text) => text === ANY_ORIGIN || isOrigin(text), {
    error: 'is no origin; write scheme and host only, for example "https://app.example", or "*" for every page',
  });

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
