import type { IdentityMarker } from "../../../src/ports/identity-marker.ts";

/** Markers on a volume of their own, which outlives every process and every database. */
export function createSimMarker(at: (label: string) => void): IdentityMarker {
  const texts = new Map<string, string>();
  return {
    read: (wallet) => {
      const text = texts.get(wallet);
      return text === undefined ? undefined : JSON.parse(text);
    },
    write: (wallet, marker) => {
      at("marker.before");
      texts.set(wallet, JSON.stringify(marker));
      at("marker.after");
    },
  };
}
