import { RpcError } from "../../chain/json-rpc.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Snapshots } from "../pools/snapshots.ts";
import type { ContractCheck } from "./verify.ts";

/** So often: its node may not have come to a router yet, or somebody puts right what stands there. */
const AGAIN_AFTER_MS = 10 * MINUTE_MS;

/** Looks at further routers that were left out again, now and then while the network is asked for. */
export function lookingAgain(
  snapshots: Snapshots,
  check: Pick<ContractCheck, "leftOut" | "lookAgain">,
  { clock, logger }: { readonly clock: Pick<Clock, "monotonicMs">; readonly logger: Logger },
): Snapshots {
  let dueMs = clock.monotonicMs() + AGAIN_AFTER_MS;
  return {
    ...snapshots,
    async current() {
      const snapshot = await snapshots.current();
      if (clock.monotonicMs() < dueMs || check.leftOut().length === 0) return snapshot;
      dueMs = clock.monotonicMs() + AGAIN_AFTER_MS;
      try {
        for (const router of await check.lookAgain())
          logger.info({ router }, "a further public router is as it should be now, and used in routes");
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
      }
      return snapshot;
    },
  };
}
