import { CONFIG_BOUNDS, DEFAULTS } from "../config/defaults.ts";
import { OWN_PROFILE } from "../config/schemas/main-schema.ts";
import { toAddress } from "../domain/money/address.ts";
import { isRefusal } from "../engine/outside-watch.ts";
import { httpUrl } from "../net/http-url.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { thisMachine } from "./machine.ts";
import { connectionOf, openSwapService, type ServiceConnection } from "./open-swap-service.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { configurationOf, type Target, withReads } from "./target.ts";

/** By wallet: the service's count of swaps by status, or why it gave none. A hint next to our rows, never evidence. */
export type ServiceCounts = Readonly<Record<string, Readonly<Record<string, number>> | string>>;

/** Asks the target's service what it counts for our wallets. */
export async function readServiceCounts(target: Target): Promise<ServiceCounts> {
  const runtime = createRuntime({ level: "silent", env: process.env });
  const service = openSwapService(connectionTo(target, runtime), { logger: runtime.logger, machine: thisMachine() });
  try {
    const answers: Record<string, Readonly<Record<string, number>> | string> = {};
    const { wallets } = await withReads(target, (reads) => reads.counts());
    for (const wallet of wallets) {
      const answer = await service.client.statusCounts(toAddress(wallet));
      answers[wallet] = isRefusal(answer) ? `no answer (${answer.code}: ${answer.message})` : answer;
    }
    return answers;
  } finally {
    await service.close();
  }
}

function connectionTo(target: Target, runtime: Runtime): ServiceConnection {
  if (target.kind !== "sandbox") {
    const { configuration } = configurationOf(target);
    const { service, serve } = configuration;
    const embedded = httpUrl(serve.listen);
    return connectionOf(configuration, service.url === "embedded" ? embedded : service.url, runtime.secrets);
  }
  const { serviceUrl, chainId, database } = target.facts;
  if (serviceUrl === null) throw new CommandFailure(EXIT.no, "the last sandbox ran without a service");
  return {
    profile: OWN_PROFILE,
    baseUrl: serviceUrl,
    network: "sandbox",
    chainId,
    apiKey: undefined,
    database,
    timeoutMs: DEFAULTS.timing.requestTimeoutMs,
    maxRetryAfterMs: DEFAULTS.timing.maxRetryAfterMs,
    maxCallWaitMs: DEFAULTS.timing.maxCallWaitMs,
    maxAnswerBytes: CONFIG_BOUNDS.maxAnswerBytes,
  };
}
