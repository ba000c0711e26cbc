import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Treasury } from "../../ports/treasury.ts";
import { replaceWhole } from "../../storage/whole-file.ts";
import { batchFileOf } from "./batch-file.ts";

/** Owners read it, with users of their own: it carries nothing that signs. */
const FILE_MODE = 0o644;

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
        mkdirSync(folder, { recursive: true });
        const text = `${JSON.stringify(batchFileOf(proposal, clock.nowMs()), null, 2)}\n`;
        if (!existsSync(path)) replaceWhole(path, text, FILE_MODE);
        return { kind: "published" };
      } catch (error) {
        if (!(error instanceof Error && "code" in error)) throw error;
        return { kind: "undelivered", detail: `${path} could not be written: ${String(error.code)}` };
      }
    },
  };
}
