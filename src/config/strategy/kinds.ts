import { dcaFile } from "./dca.ts";
import type { FileKind } from "./file-kind.ts";
import { rebalanceFile } from "./rebalance.ts";
import { sweepFile } from "./sweep.ts";
import { thresholdFile } from "./threshold.ts";
import { twapFile } from "./twap.ts";
import { valueAveragingFile } from "./value-averaging.ts";

/** Every kind of strategy file. A new kind is a line here, and what docs/WRITING-A-KIND.md says. */
export const FILE_KINDS: Readonly<Record<string, FileKind>> = {
  dca: dcaFile,
  rebalance: rebalanceFile,
  sweep: sweepFile,
  threshold: thresholdFile,
  twap: twapFile,
  "value-averaging": valueAveragingFile,
};
