import { botTokenProblem, createBot, TELEGRAM_API } from "../../adapters/notify/bot.ts";
import { serverProblem } from "../../adapters/notify/channel-kind.ts";
import type { Configuration } from "../../config/configuration.ts";
import type { AlertDeps } from "../../engine/alerts.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ReadModel } from "../../ports/read-model.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import type { Machine } from "../machine.ts";
import type { SecretOpener } from "../open-secrets.ts";
import { startListening } from "./listen.ts";

/**
 * Listens to the chat that a configuration names, and answers by the one that is in force when it is asked.
 * @throws CommandFailure 78 when its bot cannot be one
 * @returns ends it
 */
export function openChat(
  files: { readonly inForce: Configuration },
  around: {
    readonly machine: Machine;
    readonly secrets: SecretOpener;
    readonly logger: Logger;
    readonly reads: ReadModel;
    readonly alerts: AlertDeps;
    /** what was asked for in an earlier life and not taken */
    readonly refused?: readonly string[];
  },
): () => Promise<void> {
  const { chat, timing } = files.inForce;
  if (chat === undefined) return async () => undefined;
  const { machine, secrets, logger, reads, alerts, refused } = around;
  const { server = TELEGRAM_API, ...terms } = chat;
  const token = secrets.open(chat.token);
  const wrong = botTokenProblem(token.reveal());
  if (wrong !== undefined)
    throw new CommandFailure(EXIT.configuration, `what alerts.commands.telegram.token refers to ${wrong}`);
  const wrongServer = serverProblem(server);
  if (wrongServer !== undefined)
    throw new CommandFailure(EXIT.configuration, `alerts.commands.telegram.server: ${wrongServer}`);
  const nowMs = (): number => machine.clock.nowMs();
  const bot = createBot({ token, server }, { timeoutMs: timing.requestTimeoutMs, nowMs, fetch: machine.fetch });
  logger.info({ host: bot.host, users: terms.users.length, allow: terms.allow }, "commands by chat are listened to");
  const sources = { configuration: () => files.inForce, reads, nowMs };
  return startListening(terms, { ...alerts, bot, logger, sources }, refused);
}
