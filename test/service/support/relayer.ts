import { createSigner } from "../../../src/adapters/keys/signer.ts";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../../src/adapters/sqlite/lanes.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { RelayerOptions } from "../../../src/service/options.ts";
import type { RelayerDependencies } from "../../../src/service/relayer/relayer.ts";
import type { TestChain } from "./chain.ts";
import { systemClock } from "./system-clock.ts";

export const RELAYER_SETTINGS: RelayerOptions = {
  minimumNativeBalance: 10n ** 17n,
  feeMarginPpm: 50_000n,
  maxDailyLoss: 10n ** 17n,
  maxDailyGas: 10n ** 18n,
  tips: { urgency: "normal", maxPriorityFee: undefined },
  bumpAfterBlocks: 4,
  rebroadcastAfterBlocks: 2,
  maxReplacements: 5,
  maxCancellations: 5,
  cancelPubliclyAfterBlocks: 25,
  cancelMarginSeconds: 1,
  emptyGasLimit: 60_000n,
};

/** The parts that the program composes for a relayer, for a test chain. */
export function relayerParts(
  chain: TestChain,
  privateKey: string,
  crashPoint?: (label: string) => void,
): RelayerDependencies {
  return {
    signer: createSigner(new Secret(privateKey)),
    chain: createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337 }, { clock: systemClock }),
    openLanes: (db) => {
      migrateLane(db);
      return createLanes(createLaneRows(db));
    },
    ...(crashPoint === undefined ? {} : { crashPoint }),
  };
}
