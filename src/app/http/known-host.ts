import { hostname } from "node:os";

/**
 * Whether a caller may have meant this server by its `Host` header: an address, `localhost`, the machine's own name, or
 * one of these. A foreign web page can send a browser here under a name of its own.
 * @param names as a person wrote them
 */
export function hostCheck(names: readonly string[]): (header: string | undefined) => boolean {
  const known = new Set(["localhost", hostname(), ...names].map((name) => name.toLowerCase()));
  return (header = "") => {
    const name = nameIn(header);
    return isAddress(name) || known.has(name);
  };
}

/** The name of a `Host` header, without its port, in lower case. */
function nameIn(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
}

/** IPv4 in dotted form, or IPv6 in brackets: no name that others could point here. */
function isAddress(name: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}
