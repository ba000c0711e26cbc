import { TextDecoder } from "node:util";
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from "node:zlib";
import { codeOf } from "./error-code.ts";

/** Why a body is no text. */
export interface Unreadable {
  readonly kind: "too large" | "not utf-8" | "transport";
  readonly detail: string;
}

/** The body of an answer as it comes, never more than its bound. */
export interface BoundedBody {
  /** @returns why it is read no further */
  add(piece: Buffer): Unreadable | undefined;
  /** The whole body as text; `encoding` is the header of this name, null when it is absent. */
  text(encoding: string | null): string | Unreadable;
}

/** Only gzip is asked for; some servers in between compress in their own way all the same. */
const DECOMPRESSORS: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Buffer> = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** A byte order mark is kept, so that the parser refuses it like any other stray character. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Copies pieces together as they come: kept by itself, a piece of one byte would weigh hundreds. One alone is not copied.
 * @param maxBytes as they come, and after decompression
 */
export function createBoundedBody(maxBytes: number): BoundedBody {
  let store: Buffer = Buffer.alloc(0);
  let length = 0;
  const tooLarge: Unreadable = { kind: "too large", detail: `the answer is larger than ${maxBytes} bytes` };

  function decompressed(encoding: string): Buffer | Unreadable {
    const bytes = store.subarray(0, length);
    // Answers without a body, like a 204, may name a compression: nothing is what it makes of nothing.
    if (length === 0 || encoding === "" || encoding === "identity") return bytes;
    const decompress = DECOMPRESSORS.get(encoding);
    if (decompress === undefined) {
      return { kind: "transport", detail: "the answer is compressed in a way that was not asked for" };
    }
    try {
      return decompress(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      const code = codeOf(error);
      return code === "ERR_BUFFER_TOO_LARGE" ? tooLarge : { kind: "transport", detail: `no complete answer (${code})` };
    }
  }

  return {
    add(piece) {
      if (length + piece.length > maxBytes) return tooLarge;
      if (length === 0) store = piece;
      else {
        if (length + piece.length > store.length) {
          const larger = Buffer.allocUnsafe(2 * (length + piece.length));
          store.copy(larger, 0, 0, length);
          store = larger;
        }
        piece.copy(store, length);
      }
      length += piece.length;
      return undefined;
    },
    text(encoding) {
      const bytes = decompressed(encoding?.toLowerCase() ?? "");
      if (!Buffer.isBuffer(bytes)) return bytes;
      try {
        return UTF_8.decode(bytes);
      } catch {
        return { kind: "not utf-8", detail: "the answer is not valid UTF-8 text" };
      }
    },
  };
}
