import { id } from "ethers";
import { onTestFinished } from "vitest";
import type { Clock } from "../../../src/ports/clock.ts";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain } from "./chain.ts";
import { createClient } from "./client.ts";
import { deployMarket, serviceOptions } from "./market.ts";
import { createRecordingLogger } from "./recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "./relayer.ts";
import { systemClock } from "./system-clock.ts";

/** What a test changes. */
interface Changes {
  readonly clock?: Clock;
  readonly options?: Omit<Parameters<typeof serviceOptions>[2], "database" | "network">;
  /** called at each place where a kill could strike */
  readonly crashPoint?: (label: string) => void;
}

/** A service with a relayer that has ten coins, on a chain and a market of its own, until the test ends. */
export async function startRelayedService(
  name: string,
  { clock = systemClock, options = {}, crashPoint }: Changes = {},
) {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  const parts = relayerParts(chain, id(name), crashPoint);
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const logger = createRecordingLogger();
  const database = `${temporaryDirectory()}/service.db`;
  const all = serviceOptions(chain, market, { ...options, database, network: { relayer: RELAYER_SETTINGS } });
  const service = await startService(all, { logger, clock, relayers: new Map([["testnet", parts]]) });
  onTestFinished(() => service.stop());
  return { chain, market, logger, service, client: await createClient(service.url) };
}
