import { arbitrum } from "./arbitrum.ts";
import { avalanche } from "./avalanche.ts";
import { base } from "./base.ts";
import { bsc } from "./bsc.ts";
import { ethereum } from "./ethereum.ts";
import type { BookedNetwork } from "./network.ts";
import { optimism } from "./optimism.ts";
import { polygon } from "./polygon.ts";
import { zksync } from "./zksync.ts";

/**
 * The networks that are built in, by the names that requests and configurations use. A new one is a line here, and what
 * docs/WRITING-A-NETWORK.md says.
 */
export const NETWORKS: ReadonlyMap<string, BookedNetwork> = new Map(
  Object.entries({
    arbitrum,
    avalanche,
    base,
    bsc,
    ethereum,
    optimism,
    polygon,
    zksync,
  }),
);
