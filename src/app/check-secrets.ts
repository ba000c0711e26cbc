import { botTokenProblem } from "../adapters/notify/bot.ts";
import { urlProblem } from "../adapters/notify/channel-kind.ts";
import type { Configuration } from "../config/configuration.ts";
import type { SecretReference } from "../config/fields.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { Finding } from "./finding.ts";
import { openChannels } from "./open-channels.ts";
import { requireOwnRelayer } from "./own-relayer.ts";
import type { Runtime } from "./runtime.ts";

const WHAT_TO_DO = "no start goes on like this: set it right, or take out what names it";

type Look = readonly [what: string, look: () => unknown];

/**
 * That each secret besides those of wallets and endpoints is there and can be what it is for: a start opens them all, in
 * any mode, and ends where one is missing. Nothing is sent.
 */
export async function checkSecrets(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  const { channels, heartbeat } = configuration;
  const told = await findingsOf([
    ...channels.map((one): Look => {
      return [`channel ${one.name}`, () => openChannels({ ...configuration, channels: [one] }, runtime)];
    }),
    ["alerts.heartbeat.url", () => lookAt(heartbeat?.url, urlProblem, runtime)],
  ]);
  return [...told, ...(await checkSilentSecrets(configuration, runtime))];
}

/** The same of those by which nobody is told anything. */
export async function checkSilentSecrets(configuration: Configuration, runtime: Runtime): Promise<readonly Finding[]> {
  const { chat, reference } = configuration;
  return await findingsOf([
    ["alerts.commands.telegram.token", () => lookAt(chat?.token, botTokenProblem, runtime)],
    ...looksAtService(configuration, runtime),
    ["reference.service.apiKey", () => reference.service?.apiKey && runtime.secrets.open(reference.service.apiKey)],
  ]);
}

async function findingsOf(looks: readonly Look[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [what, look] of looks) {
    try {
      await look();
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      findings.push({ what, found: error.message, whatToDo: WHAT_TO_DO });
    }
  }
  return findings;
}

/** @throws CommandFailure where it is missing, or cannot be what it is for */
export function lookAt(
  reference: SecretReference | undefined,
  problem: (value: string) => string | undefined,
  { secrets }: Pick<Runtime, "secrets">,
): void {
  const wrong = reference && problem(secrets.open(reference).reveal());
  if (wrong !== undefined) throw new CommandFailure(EXIT.configuration, `what it refers to ${wrong}`);
}

/** Of one elsewhere the key is tried by asking it, and so is a relayer's signer elsewhere. */
function looksAtService(configuration: Configuration, { secrets }: Runtime): readonly Look[] {
  const { service, serve } = configuration;
  if (service.url !== "embedded") return [];
  const { relayer } = serve;
  const lookAtRelayer = async (): Promise<void> => {
    if (relayer === undefined) return;
    const { address } = relayer.kind === "remote" ? relayer : await secrets.signer(relayer);
    requireOwnRelayer(configuration, address);
  };
  return [
    ["service.apiKey", () => service.apiKey && secrets.open(service.apiKey)],
    ...serve.apiKeys.map((one): Look => ["serve.apiKeys", () => secrets.open(one)]),
    ["serve.relayer", lookAtRelayer],
  ];
}
