import type { Configuration } from "../../../config/configuration.ts";
import type { LoadOutcome } from "../../../config/load-configuration.ts";
import type { ZoneOffsets } from "../../../domain/schedule/schedule.ts";
import type { DryRun } from "../../../engine/dry-run.ts";
import type { Reach } from "../../../engine/reach.ts";
import type { AccessStore } from "../../../ports/access.ts";
import type { Chain, EndpointReport } from "../../../ports/chain.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Listing } from "../../../ports/listing.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { PriceSource } from "../../../ports/price-source.ts";
import type { ReadModel } from "../../../ports/read-model.ts";
import type { CommitSignal } from "../../commit-signal.ts";
import type { HealthReader } from "../health.ts";

/** What the API reads, and asks with. */
export interface ApiSources {
  /** as it is in force: edited strategies are taken over while the daemon runs */
  configuration(): Configuration;
  /** Reads the files again; undefined where nothing watches them. */
  readonly load: (() => LoadOutcome | Promise<LoadOutcome>) | undefined;
  readonly reads: ReadModel;
  readonly listing: Listing;
  readonly access: AccessStore;
  readonly health: HealthReader;
  readonly chain: Pick<Chain, "allowance" | "balance" | "latest">;
  readonly prices: PriceSource;
  readonly service: Pick<Reach, "absence">;
  /** what the endpoints can do, as the last probe found it */
  endpoints(): readonly EndpointReport[];
  /** hosts that transactions are sent to privately */
  readonly submitHosts: readonly string[];
  /**
   * What a strategy would do at its next slot: nothing is written, signed or sent.
   * @returns undefined without a further slot; "unknown" where no such strategy is in force
   */
  lookAhead(strategyId: string): Promise<DryRun | undefined | "unknown">;
  /** says that the daemon wrote something */
  readonly commits: Pick<CommitSignal, "count" | "wait">;
  readonly clock: Clock;
  readonly zones: ZoneOffsets;
  readonly logger: Logger;
}
