import type { DcaSpec } from "./dca.ts";
import type { RebalanceSpec } from "./rebalance-spec.ts";
import type { ThresholdSpec } from "./threshold-spec.ts";
import type { SweepSpec } from "./sweep.ts";
import type { TwapSpec } from "./twap.ts";
import type { ValueAveragingSpec } from "./value-averaging.ts";

/** What a strategy file says, checked, with its tokens resolved. */
export type StrategySpec = DcaSpec | RebalanceSpec | ThresholdSpec | SweepSpec | TwapSpec | ValueAveragingSpec;
