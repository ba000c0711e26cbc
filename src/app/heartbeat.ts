import { urlProblem } from "../adapters/notify/channel-kind.ts";
import { createPost } from "../adapters/notify/post.ts";
import type { Configuration } from "../config/configuration.ts";
import { hostOf, Secret } from "../net/secret.ts";
import type { Logger } from "../ports/logger.ts";
import type { ReadModel } from "../ports/read-model.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { HealthReader } from "./http/health.ts";
import type { Machine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** What a sign of life is made of. */
export interface HeartbeatDeps {
  readonly machine: Pick<Machine, "clock"> & Partial<Pick<Machine, "fetch">>;
  readonly secrets: SecretOpener;
  readonly health: HealthReader;
  readonly reads: Pick<ReadModel, "historyChain">;
  readonly logger: Logger;
}

/**
 * Pings a watcher that reports when nothing comes: at the start, and then again and again, as a failure while something
 * is wrong. What it carries is the head of the history, so that it stands with somebody else. Nothing waits for it, and
 * nothing is made up for: a ping is about now.
 * @throws CommandFailure 78 when its URL is none
 * @returns ends it
 */
export function startHeartbeat(configuration: Configuration, deps: HeartbeatDeps): () => Promise<void> {
  const { heartbeat } = configuration;
  if (heartbeat === undefined) return async () => undefined;
  const url = deps.secrets.open(heartbeat.url);
  const wrong = urlProblem(url.reveal());
  if (wrong !== undefined) throw new CommandFailure(EXIT.configuration, `what alerts.heartbeat.url refers to ${wrong}`);
  const stopping = new AbortController();
  const running = keepPinging(configuration, { ...deps, url, everyMs: heartbeat.everyMs }, stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}

async function keepPinging(
  configuration: Configuration,
  { url, everyMs, ...deps }: HeartbeatDeps & { readonly url: Secret; readonly everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { clock, fetch } = deps.machine;
  const { requestTimeoutMs: timeoutMs } = configuration.timing;
  let isHeard = true;
  for (let way = "/start"; !signal.aborted; way = "") {
    const { body, isWell } = await stateOf(configuration, deps);
    const to = withPath(url, way === "" && !isWell ? "/fail" : way);
    const answer = await createPost({ timeoutMs, signal, nowMs: clock.nowMs(), fetch })({ url: to, body });
    const wasHeard = isHeard;
    isHeard = answer.kind === "delivered" || signal.aborted;
    const fields = { host: hostOf(url), outcome: answer.detail };
    if (wasHeard && !isHeard) deps.logger.warn(fields, "the watcher did not take a sign of life");
    if (!wasHeard && isHeard) deps.logger.info(fields, "the watcher takes signs of life again");
    await clock.sleep(everyMs, signal);
  }
}

/** A database that is busy is no reason to be silent, nor to stop. */
async function stateOf(
  { network, mode }: Configuration,
  { health, reads }: Pick<HeartbeatDeps, "health" | "reads">,
): Promise<{ readonly body: string; readonly isWell: boolean }> {
  const name = `swapd on ${network.name}, ${mode}`;
  try {
    const [own, outside] = [await health.health(), await health.readiness()];
    const { head } = await reads.historyChain({ isChecked: false });
    const { node, service, clock, database, signer } = outside;
    const reasons = [node, service, clock, database, signer].flatMap(({ reason }) => reason ?? []);
    const isWell = own.healthy && outside.ready;
    const lines = [
      `${name}, mode ${own.operating.global}`,
      ...(head === undefined ? [] : [`history of ${head.links} links, head ${head.head}`]),
      ...(isWell ? [] : [...own.problems, ...reasons]),
    ];
    return { body: lines.join("\n"), isWell };
  } catch {
    return { body: `${name}: its database cannot be read`, isWell: false };
  }
}

function withPath(url: Secret, way: string): Secret {
  if (way === "") return url;
  const to = new URL(url.reveal());
  to.pathname = `${to.pathname.replace(/\/$/, "")}${way}`;
  return new Secret(to.href);
}
