import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Treasury } from "../../ports/treasury.ts";
import { batchFileOf } from "./batch-file.ts";

/**
 * Proposals as files in a folder, from where a person brings them to the owners. A file is whole or not there, and one that
 * is there is the proposal already: it is not written again.
 */
export function createProposalFolder(
  { safe, folder }: { readonly safe: Address; readonly folder: string },
  { clock }: { readonly clock: Pick<Clock, "nowMs"> },
): Treasury {
  return {
    ...{ safe, bindsNonce: false, proposer: undefined },
    freeNonce: async (next) => next,
    publish: async (proposal) => {
      const path = join(folder, `${proposal.swapId.replaceAll(/[^\w.-]/g, "_")}.json`);
      try {
        if (!existsSync(path)) writeWhole(folder, path, JSON.stringify(batchFileOf(proposal, clock.nowMs()), null, 2));
        return { kind: "published" };
      } catch (error) {
        if (!(error instanceof Error && "code" in error)) throw error;
        return { kind: "undelivered", detail: `${path} could not be written: ${String(error.code)}` };
      }
    },
  };
}

function writeWhole(folder: string, path: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const partial = `${path}.partial`;
  const file = openSync(partial, "w", 0o644);
  try {
    // All of it or an error: a single write takes the part for which there is room.
    writeFileSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
}
