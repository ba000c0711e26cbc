/**
 * 32 bits that look random and are the same for the same text, on every machine and after every restart. Not for secrets.
 * Source: FNV-1a by Fowler, Noll and Vo, with the finaliser of MurmurHash3 by A. Appleby.
 */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
