import { join } from "node:path";
import type { Configuration } from "../config/configuration.ts";
import { isRefusal } from "../engine/outside-watch.ts";
import { CommandFailure } from "./exit-codes.ts";
import type { Finding } from "./finding.ts";
import { type Machine, thisMachine } from "./machine.ts";
import { connectionOf, openSwapService } from "./open-swap-service.ts";
import type { Runtime } from "./runtime.ts";
import { openScratchFolder } from "./scratch-folder.ts";

/** A key that is refused, by the statuses of HTTP that say so. */
const REFUSES_KEY: ReadonlySet<number | undefined> = new Set([401, 403]);

/** Asks a service elsewhere one harmless question, with the key: how the swaps of a wallet ended. */
export async function checkService(
  configuration: Configuration,
  runtime: Runtime,
  machine: Machine = thisMachine(),
): Promise<readonly Finding[]> {
  const { url, apiKey } = configuration.service;
  const [wallet] = configuration.wallets.values();
  if (url === "embedded" || wallet === undefined) return [];
  const what = `service ${new URL(url).host}`;
  // The pace of its calls is kept in a file, and a check leaves none behind.
  const scratch = openScratchFolder("swapd-check-");
  try {
    const connection = {
      ...connectionOf(configuration, url, runtime.secrets),
      database: join(scratch.path, "check.db"),
    };
    const { client, close } = openSwapService(connection, { logger: runtime.logger, machine });
    const answer = await client.statusCounts(wallet.address).finally(close);
    if (!isRefusal(answer)) return [{ what, found: "answers", whatToDo: undefined }];
    const whatToDo =
      apiKey !== undefined && REFUSES_KEY.has(answer.status)
        ? "it refuses the key: check service.apiKey"
        : "nothing is quoted while it does not answer: check service.url and service.profile";
    return [{ what, found: `${answer.code}: ${runtime.redactor.redact(answer.message)}`, whatToDo }];
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return [{ what, found: error.message, whatToDo: "nothing is quoted without its key: check service.apiKey" }];
  } finally {
    scratch.remove();
  }
}
