import type { ServiceBook } from "../domain/guard/service-promises.ts";
import { checkServiceUrl } from "./build-service.ts";
import { at, type Complaint, type Found } from "./complaint.ts";
import type { ReferenceConfiguration, ServiceConfiguration, TokenConfiguration } from "./configuration.ts";
import { type Listen, LOOPBACK } from "./fields.ts";
import { absoluteReference } from "./references.ts";
import type { PolicyFile } from "./schemas/policy-schema.ts";
import { findProfile } from "./service-profile.ts";
import type { Source } from "./source.ts";

/** What the sources of the reference depend on. */
interface Known {
  /** the service that quotes */
  readonly service: ServiceConfiguration;
  /** where it is when it is embedded */
  readonly listen: Listen;
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly services: ServiceBook;
}

type Fields = PolicyFile["reference"];

/**
 * What quotes are checked against. The feed is always among the sources: it alone is a source of dollars that does not
 * depend on a pool or on a service, and the ceilings are in dollars.
 */
export function* buildReference(source: Source, fields: Fields, known: Known): Found<ReferenceConfiguration> {
  const { sources, service } = fields;
  yield* checkSources(fields, known);
  if (service === undefined) return { sources, service };
  yield* checkSecond(service, known);
  yield* findProfile(["reference", "service", "profile"], service.profile, known.services);
  const { profile, url, apiKey } = service;
  const key = apiKey === undefined ? undefined : absoluteReference(source, apiKey);
  return {
    sources,
    service: { profile, url, apiKey: key, contracts: undefined, furtherContracts: [], signer: undefined },
  };
}

/** A pool or a service that is never asked, or a source without one, is a mistake. */
function* checkSources({ sources, service }: Fields, { tokens }: Known): Iterable<Complaint> {
  const pooled = [...tokens.values()].filter(({ twap }) => twap !== undefined).map(({ token }) => token.symbol);
  if (!sources.includes("feed"))
    yield at`reference.sources: the feed is missing: pools and services give no dollars, and the ceilings are in dollars -> write for example [feed, twap]`;
  if (new Set(sources).size < sources.length) yield at`reference.sources: names a source twice`;
  if (sources.includes("twap") && pooled.length === 0)
    yield at`reference.sources: no token has a twap -> give one to a token, or leave this source out`;
  if (!sources.includes("twap") && pooled.length > 0)
    yield at`reference.sources: leaves out the twap of ${pooled.join(", ")} -> write [feed, twap]`;
  if (service === undefined && sources.includes("service"))
    yield at`reference.sources: the second service is not given -> add service: { profile, url: "https://...", apiKey } next to it`;
  if (service !== undefined && !sources.includes("service"))
    yield at`reference.sources: leaves out the service that is given -> add service to it, or remove it`;
}

/** A service that checks itself checks nothing. */
function* checkSecond(
  { url, apiKey }: NonNullable<Fields["service"]>,
  { service, listen }: Known,
): Iterable<Complaint> {
  const path = ["reference", "service", "url"];
  if (url === "embedded") {
    yield at`${path}: the embedded service prices by the same pools as the one that quotes, or is it -> give the URL of another service`;
    return;
  }
  yield* checkServiceUrl(path, url, apiKey !== undefined);
  const first = service.url === "embedded" ? `http://${listen.host}:${listen.port}` : service.url;
  if (URL.canParse(url) && URL.canParse(first) && isSameHost(new URL(first), new URL(url)))
    yield at`${path}: this is the host of the service that quotes, which cannot be its own reference -> name another service, or leave this source out`;
}

/** On this machine each port is a service of its own; elsewhere one host is one operator. */
function isSameHost(first: URL, second: URL): boolean {
  if (LOOPBACK.has(first.hostname) && LOOPBACK.has(second.hostname)) return first.port === second.port;
  return first.hostname === second.hostname;
}
