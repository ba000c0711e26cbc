import type { RetentionStore } from "./retention-store.ts";
import type { UnitOfWork } from "./unit-of-work.ts";

/** The daemon's database as its engine uses it. */
export interface Store extends UnitOfWork, RetentionStore {}
