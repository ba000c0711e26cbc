import type { EffectGroup, PendingEffect } from "./daemon-rows.ts";
import type { RetentionStore } from "./retention-store.ts";
import type { UnitOfWork } from "./unit-of-work.ts";

/** The daemon's database as its engine uses it. */
export interface Store extends UnitOfWork, RetentionStore {
  /** Those of a group, the longest due first: reported at once, as what is in flight is. */
  dueEffects(nowMs: number, limit: number, group: EffectGroup): readonly PendingEffect[];
  /** When the next one is due, in milliseconds; undefined: none is written down. */
  nextEffectMs(): number | undefined;
}
