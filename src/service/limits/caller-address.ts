import { BlockList, isIP, isIPv6 } from "node:net";

const GROUPS = 8;
/** A network hands out at least a /64 to each customer, who has all addresses in it. */
const COUNTED_GROUPS = 4;

/** `192.0.2.7:443`, `[2001:db8::9]:443` or `[2001:db8::9]`: some proxies write the port of each connection. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([0-9]+(?:\.[0-9]+){3}))(?::[0-9]*)?$/;

/** An address as a socket or a proxy names it, without a port and a zone. */
function plainAddress(text: string): string {
  const [, bracketed, beforePort] = WITH_PORT.exec(text) ?? [];
  return (bracketed ?? beforePort ?? text).replace(/%.*$/, "");
}

/** Whether an address is in one of these networks, which are addresses with or without a length. */
export function networksOf(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(bits ?? (family === "ipv6" ? 128 : 32)), family);
  }
  return (text) => {
    const address = plainAddress(text);
    return isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  };
}

/** What requests without a key are counted by: an IPv4 address, or the first half of an IPv6 address. */
export function callerOf(address: string): string {
  const plain = plainAddress(address);
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
