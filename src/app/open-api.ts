import { createAccessStore } from "../adapters/sqlite/daemon/access-store.ts";
import { createListing } from "../adapters/sqlite/daemon/listing.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import type { Configuration } from "../config/configuration.ts";
import { hostOf } from "../net/secret.ts";
import type { Logger } from "../ports/logger.ts";
import type { ReadModel } from "../ports/read-model.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import type { CommitSignal } from "./commit-signal.ts";
import type { ComposedDaemon } from "./compose-daemon.ts";
import type { ApiSources } from "./http/api/api-sources.ts";
import type { HealthReader } from "./http/health.ts";
import type { Machine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";
import type { WatchDeps } from "./watch-files.ts";

type Opened = Pick<ComposedDaemon, "engine" | "chain" | "prices" | "service" | "abilities"> & {
  readonly logger: Logger;
  readonly secrets: Pick<SecretOpener, "submitUrls">;
  readonly edits?: Pick<WatchDeps, "load"> | undefined;
  /** the daemon's own connection, and one for reading alone */
  readonly db: SqliteDatabase;
  readonly reader: SqliteDatabase;
  /** as it is in force */
  readonly files: { readonly inForce: Configuration };
  readonly reads: ReadModel;
  readonly health: HealthReader;
  readonly machine: Pick<Machine, "clock">;
  readonly commits: CommitSignal;
};

/** What the API of a daemon reads, and asks with. */
export function openApi(opened: Opened): ApiSources {
  const { engine, chain, prices, service, abilities, logger, secrets, edits, files, reads, health, commits } = opened;
  return {
    ...{ reads, health, chain, prices, service, commits, logger, clock: opened.machine.clock },
    configuration: () => files.inForce,
    load: edits?.load,
    listing: createListing(opened.reader),
    access: createAccessStore(opened.db),
    endpoints: abilities.reports,
    submitHosts: secrets.submitUrls(files.inForce).map(hostOf),
    lookAhead: engine.lookAhead,
    zones: createIntlZones(),
  };
}
