import { createLane } from "../../lane/lane.ts";
import type { JsonRpc } from "../../net/json-rpc.ts";
import type { LaneChain } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaneStore } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Signer } from "../../ports/signer.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import type { NetworkOptions, RelayerOptions } from "../options.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { type LaneRunner, runLane } from "./lane-runner.ts";
import { createSwapRecorder } from "./swap-recorder.ts";

/** What a relayer is made of; the same parts as the lanes of anybody else who sends transactions. */
export interface RelayerDependencies {
  readonly signer: Signer;
  readonly chain: LaneChain;
  /** Creates the tables of lanes in the service's own database, and the store on them. */
  readonly createLaneStore: (db: SqliteDatabase) => LaneStore;
  /** named places where a test may stop the process; absent in production */
  readonly crashPoint?: (label: string) => void;
}

/** Opens the relayer's lane on the service's database; what was in flight when the last process ended goes on. */
export function openRelayer(
  options: { relayer: RelayerOptions; network: NetworkOptions },
  dependencies: RelayerDependencies & { store: ServiceStore; rpc: JsonRpc; clock: Clock; logger: Logger },
): { readonly lane: ReturnType<typeof createLane>; readonly laneStore: LaneStore; readonly runner: LaneRunner } {
  const { relayer, network } = options;
  const { signer, chain, store, rpc, clock, logger, crashPoint } = dependencies;
  const laneStore = dependencies.createLaneStore(store.db);
  const listener = createSwapRecorder(store, network, clock);
  const lane = createLane(
    {
      account: signer.address,
      chainId: network.chainId,
      confirmations: network.confirmations,
      bumpAfterBlocks: relayer.bumpAfterBlocks,
      rebroadcastAfterBlocks: relayer.rebroadcastAfterBlocks,
      maxReplacements: relayer.maxReplacements,
      maxCancellations: relayer.maxCancellations,
      cancelMarginSeconds: relayer.cancelMarginSeconds,
      signing: () => true,
    },
    { store: laneStore, chain, signer, clock, logger, listener, ...(crashPoint === undefined ? {} : { crashPoint }) },
  );
  const { minimumNativeBalance } = relayer;
  const runner = runLane({ account: signer.address, minimumNativeBalance }, { lane, rpc, clock, logger });
  return { lane, laneStore, runner };
}
