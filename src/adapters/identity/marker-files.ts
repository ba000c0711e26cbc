import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Address } from "../../domain/money/address.ts";
import type { IdentityMarker, Marker } from "../../ports/identity-marker.ts";
import { hasCode } from "../../storage/private-file.ts";
import { replaceWhole } from "../../storage/whole-file.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const VERSION = 1;

/** What only a person can correct: a full disk and its like do not count. */
const PERSONS = ["EACCES", "EPERM", "EROFS", "EISDIR", "ENOTDIR", "EEXIST", "ELOOP"];

const count = z.number().int().nonnegative();
const schema = z.object({
  version: z.literal(VERSION),
  chainId: z.number(),
  wallet: z.string(),
  state: z.object({ id: z.string(), signatures: count, signings: count, lifetimeSeconds: count.optional() }).optional(),
  baseline: z.object({ block: count, transactionCount: count }).optional(),
});

/** A marker that is there and cannot be used: nothing is signed until a person has corrected it. */
export class MarkerError extends Error {
  override readonly name = "MarkerError";
}

/** Markers as one small file a wallet and chain in a folder of their own, replaced as a whole. */
export function createMarkerFiles(folder: string, chainId: number): IdentityMarker {
  const fileOf = (wallet: Address): string => join(folder, `${chainId}-${wallet}.json`);
  return {
    read: (wallet) => {
      const file = fileOf(wallet);
      const text = orMarkerError(`${file} cannot be read`, () => readIfThere(file));
      return text === undefined ? undefined : parse(text, { file, chainId, wallet });
    },
    write: (wallet, marker) => {
      const file = fileOf(wallet);
      const text = `${JSON.stringify({ version: VERSION, chainId, wallet, ...marker })}\n`;
      orMarkerError(`${file} cannot be written`, () => replace(folder, file, text));
    },
  };
}

function replace(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  replaceWhole(file, text, FILE_MODE);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, ["ENOENT"])) return undefined;
    throw error;
  }
}

/** @throws MarkerError when the file is no marker of this wallet: that must not count as none */
function parse(text: string, of: { file: string; chainId: number; wallet: Address }): Marker {
  const read = schema.safeParse(jsonOf(text));
  const isOurs = read.success && read.data.chainId === of.chainId && read.data.wallet === of.wallet;
  if (isOurs) return { state: read.data.state, baseline: read.data.baseline };
  const [issue] = read.error?.issues ?? [];
  const why = issue === undefined ? "it is of another wallet or chain" : [...issue.path, issue.message].join(" ");
  throw new MarkerError(
    `the identity marker ${of.file} cannot be used (${why}): put the right one back, or remove it and accept anew`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function orMarkerError<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!hasCode(error, PERSONS)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new MarkerError(`the identity marker ${what}: ${why}; see to its folder, which \`identity\` names`, {
      cause: error,
    });
  }
}
