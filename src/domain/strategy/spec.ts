import type { DcaSpec } from "./dca.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";
import type { SweepSpec } from "./sweep.ts";
import type { ThresholdSpec } from "./threshold-spec.ts";
import type { TwapSpec } from "./twap.ts";
import type { ValueAveragingSpec } from "./value-averaging.ts";

/** The settings of each kind. A new kind adds a line. */
interface SpecOfKind {
  readonly dca: DcaSpec;
  readonly rebalance: RebalanceSpec;
  readonly sweep: SweepSpec;
  readonly threshold: ThresholdSpec;
  readonly twap: TwapSpec;
  readonly "value-averaging": ValueAveragingSpec;
}

/** What a strategy file says, checked, with its tokens resolved. */
export type StrategySpec = SpecOfKind[keyof SpecOfKind];
