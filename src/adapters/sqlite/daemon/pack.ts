import { deflateRawSync, inflateRawSync } from "node:zlib";

/** How far back the compressed form can point. */
const WINDOW_BYTES = 32_768;

/**
 * Text as it is stored where there is much of it.
 * @param base a text that resembles it, which its reader must have: what is the same there takes no room
 */
export function pack(text: string, base?: string): Uint8Array {
  return base === undefined ? deflateRawSync(text) : deflateRawSync(text, { level: 9, dictionary: dictionaryOf(base) });
}

/** The text that {@link pack} was given, with the same base. */
export function unpack(bytes: Uint8Array, base?: string): string {
  const plain = base === undefined ? inflateRawSync(bytes) : inflateRawSync(bytes, { dictionary: dictionaryOf(base) });
  return plain.toString();
}

function dictionaryOf(base: string): Uint8Array {
  return Buffer.from(base).subarray(-WINDOW_BYTES);
}
