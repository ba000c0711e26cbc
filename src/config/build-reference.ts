import { checkServiceUrl, LOOPBACK } from "./build-service.ts";
import type { ReferenceConfiguration, ServiceConfiguration, TokenConfiguration } from "./configuration.ts";
import type { Listen } from "./fields.ts";
import type { Problem } from "./problem.ts";
import { absoluteReference } from "./references.ts";
import type { PolicyFile } from "./schemas/policy-schema.ts";
import { problemAt, type Source } from "./source.ts";

/** What the sources of the reference depend on. */
interface Known {
  /** the service that quotes */
  readonly service: ServiceConfiguration;
  /** where it is when it is embedded */
  readonly listen: Listen;
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
}

/**
 * What quotes are held against. The feed is always among the sources: it alone is a source of dollars that does not
 * depend on a pool or on a service, and the ceilings are in dollars.
 */
export function buildReference(
  source: Source,
  fields: PolicyFile["reference"],
  known: Known,
  problems: Problem[],
): ReferenceConfiguration {
  const sources = fields?.sources ?? ["feed"];
  const path = ["reference", "sources"];
  if (!sources.includes("feed")) {
    const message = "the feed is missing: pools and services give no dollars, and the ceilings are in dollars";
    problems.push(problemAt(source, path, message, "write for example [feed, twap]"));
  }
  if (new Set(sources).size < sources.length) problems.push(problemAt(source, path, "names a source twice"));
  checkTwaps(source, sources, known, problems);
  const service = fields?.service;
  if (service === undefined) {
    if (sources.includes("service")) {
      const suggestion = 'add service: { profile, url: "https://...", apiKey } beside it';
      problems.push(problemAt(source, path, "the second service is not given", suggestion));
    }
    return { sources, service: undefined };
  }
  if (!sources.includes("service")) {
    problems.push(problemAt(source, path, "leaves out the service that is given", "add service to it, or remove it"));
  }
  checkSecond(source, service, known, problems);
  const { profile, url, apiKey } = service;
  return {
    sources,
    service: {
      profile,
      url,
      apiKey: apiKey === undefined ? undefined : absoluteReference(source, apiKey),
      signer: undefined,
    },
  };
}

/** A pool that nobody asks, or a source without any pool, is a mistake. */
function checkTwaps(
  source: Source,
  sources: ReferenceConfiguration["sources"],
  { tokens }: Known,
  problems: Problem[],
): void {
  const pooled = [...tokens.values()].filter(({ twap }) => twap !== undefined).map(({ token }) => token.symbol);
  const path = ["reference", "sources"];
  if (sources.includes("twap") && pooled.length === 0) {
    problems.push(problemAt(source, path, "no token has a twap", "give one to a token, or leave this source out"));
  }
  if (!sources.includes("twap") && pooled.length > 0) {
    problems.push(problemAt(source, path, `leaves out the twap of ${pooled.join(", ")}`, "write [feed, twap]"));
  }
}

/** A service that checks itself checks nothing. */
function checkSecond(
  source: Source,
  second: NonNullable<NonNullable<PolicyFile["reference"]>["service"]>,
  { service, listen }: Known,
  problems: Problem[],
): void {
  const path = ["reference", "service", "url"];
  if (second.url === "embedded") {
    const message = "the embedded service prices by the same pools as the one that quotes, or is it";
    problems.push(problemAt(source, path, message, "give the URL of another service"));
    return;
  }
  checkServiceUrl(source, path, { url: second.url, hasKey: second.apiKey !== undefined }, problems);
  const first = service.url === "embedded" ? `http://${listen.host}:${listen.port}` : service.url;
  if (!URL.canParse(second.url) || !URL.canParse(first) || !isSameHost(new URL(first), new URL(second.url))) return;
  const message = "this is the host of the service that quotes, which cannot be its own reference";
  problems.push(problemAt(source, path, message, "name another service, or leave this source out"));
}

/** On this machine each port is a service of its own; elsewhere one host is one operator. */
function isSameHost(first: URL, second: URL): boolean {
  if (LOOPBACK.has(first.hostname) && LOOPBACK.has(second.hostname)) return first.port === second.port;
  return first.hostname === second.hostname;
}
