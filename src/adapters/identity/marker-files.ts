import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../domain/money/address.ts";
import type { IdentityMarker, Marker } from "../../ports/identity-marker.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const VERSION = 1;

/** Markers as one small file a wallet and chain in a folder of their own, replaced as a whole. */
export function createMarkerFiles(folder: string, chainId: number): IdentityMarker {
  const fileOf = (wallet: Address): string => join(folder, `${chainId}-${wallet}.json`);
  return {
    read: (wallet) => {
      const file = fileOf(wallet);
      const text = readIfThere(file);
      return text === undefined ? undefined : parse(text, file);
    },
    write: (wallet, marker) => {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
      const file = fileOf(wallet);
      const unfinished = `${file}.unfinished`;
      const handle = openSync(unfinished, "w", FILE_MODE);
      try {
        writeSync(handle, `${JSON.stringify({ version: VERSION, chainId, wallet, ...marker })}\n`);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      renameSync(unfinished, file);
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** @throws Error when the file is no marker: that must not look as if there were none */
function parse(text: string, file: string): Marker {
  const unreadable = (cause?: unknown): Error =>
    new Error(`the identity marker ${file} cannot be read: put the right one back, or remove it and accept anew`, {
      cause,
    });
  let fields: { version?: unknown; state?: Marker["state"]; baseline?: Marker["baseline"] };
  try {
    fields = JSON.parse(text) as typeof fields;
  } catch (error) {
    throw unreadable(error);
  }
  const { version, state, baseline } = fields;
  const counts = [state?.signatures ?? 0, state?.signings ?? 0, baseline?.block ?? 0, baseline?.transactionCount ?? 0];
  const isSane = version === VERSION && counts.every((count) => Number.isSafeInteger(count));
  if (!isSane || (state !== undefined && typeof state.id !== "string")) throw unreadable();
  return { state, baseline };
}
