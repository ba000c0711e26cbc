import { isIPv6 } from "node:net";

const GROUPS = 8;
/** A network hands out at least a /64 to each customer, who has all addresses in it. */
const COUNTED_GROUPS = 4;

/** What requests without a key are counted by: an IPv4 address, or the first half of an IPv6 address. */
export function callerOf(address: string): string {
  const [plain = address] = address.split("%");
  if (!isIPv6(plain)) return plain;
  const mapped = /^(?:::ffff:)([0-9.]+)$/i.exec(plain);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [before = "", after] = plain.toLowerCase().split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const filled = [...head, ...Array<string>(Math.max(0, GROUPS - head.length - tail.length)).fill("0"), ...tail];
  const counted = filled.slice(0, COUNTED_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${counted.join(":")}::/64`;
}
