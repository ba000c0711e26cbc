import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Text as it is stored where there is much of it. */
export function pack(text: string): Uint8Array {
  return deflateRawSync(text);
}

/** The text that {@link pack} was given. */
export function unpack(bytes: Uint8Array): string {
  return inflateRawSync(bytes).toString();
}
