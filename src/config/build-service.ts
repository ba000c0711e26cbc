import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ServiceBook } from "../domain/guard/service-promises.ts";
import type { StatedContracts, SwapContracts } from "../domain/guard/swap-contracts.ts";
import { buildKeySource, type Surroundings } from "./build-key.ts";
import { buildNative } from "./build-native.ts";
import { at, type Complaint, type Found, type Part, type Path } from "./complaint.ts";
import type { ServeConfiguration, ServiceConfiguration } from "./configuration.ts";
import { type Listen, LOOPBACK } from "./fields.ts";
import { resolveFrom } from "./files.ts";
import { absoluteReference } from "./references.ts";
import { type MainFile, OWN_PROFILE, ROUTER_PROFILE } from "./schemas/main-schema.ts";
import { checkOneContract, findProfile, wholeContracts } from "./service-profile.ts";
import type { Source } from "./source.ts";

/** The service that quotes. By default our own, embedded. */
export function* buildService(
  source: Source,
  fields: MainFile["service"],
  {
    services,
    contracts,
    further,
  }: {
    readonly services: ServiceBook;
    readonly contracts: StatedContracts;
    /** as the policy allows them */
    readonly further: readonly SwapContracts[];
  },
): Part<ServiceConfiguration> {
  const { profile, url, apiKey, signer } = fields;
  const promises = yield* findProfile(["service", "profile"], profile, services);
  if (promises === undefined) return undefined;
  const path = ["service", "url"];
  if (url !== "embedded") yield* checkServiceUrl(path, url, apiKey !== undefined);
  else if (!promises.mayBeEmbedded)
    yield at`${path}: the embedded service speaks the profiles ${OWN_PROFILE} and ${ROUTER_PROFILE}, not ${profile} -> give the URL of the service: url: "https://..."`;
  yield* checkOneContract(fields, promises);
  if (signer !== undefined && !promises.signsTransactions)
    yield at`service.signer: the profile ${profile} signs no transactions, so it has no signer -> leave the key out`;
  const key = apiKey === undefined ? undefined : absoluteReference(source, apiKey);
  return { profile, url, apiKey: key, contracts: wholeContracts(contracts), furtherContracts: further, signer };
}

/** A service's URL is a host and a path, and a key crosses no network in the clear. */
export function* checkServiceUrl(path: Path, url: string, hasKey: boolean): Iterable<Complaint> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
    yield at`${path}: is neither "embedded" nor an http or https URL`;
  else if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "")
    yield at`${path}: a service's URL is a host and a path only -> an API key goes into apiKey next to it`;
  else if (hasKey && parsed.protocol === "http:" && !LOOPBACK.has(parsed.hostname))
    yield at`${path}: the API key would cross the network in the clear -> use https`;
}

/** What the relayer may cost its owner where the file does not say it, in wei. */
const COSTS = { minimumBalance: 10n ** 16n, maxDailyLoss: 10n ** 17n, maxDailyGas: 10n ** 18n };

/** Our own service: where it listens, what it allows, and who sends its gasless swaps. */
export function* buildServe(
  source: Source,
  fields: MainFile["serve"],
  around: Surroundings & {
    readonly overrides: { readonly listen?: Listen; readonly database?: string } | undefined;
    readonly nativeSymbol: string;
    readonly profile: string | undefined;
    /** the daemon's */
    readonly database: string;
  },
): Found<ServeConfiguration> {
  const { overrides = {}, nativeSymbol, profile } = around;
  const native = function* (name: keyof typeof COSTS): Found<bigint> {
    return (yield* buildNative(["serve", "gasless", name], fields.gasless[name], nativeSymbol)) ?? COSTS[name];
  };
  const { relayer, database } = fields;
  if (relayer !== undefined && profile === ROUTER_PROFILE)
    yield at`serve.relayer: swaps settle through a public router here, which takes no signed orders -> leave it out, or deploy a settlement contract (swapd settlement deploy)`;
  const file = ownDatabase(source, { overridden: overrides.database, stated: database, daemons: around.database });
  if (file === around.database)
    yield at`serve.database: is the daemon's own database -> name another file, or leave the key out`;
  return {
    ...fields,
    listen: overrides.listen ?? fields.listen,
    database: file,
    apiKeys: fields.apiKeys.map((reference) => absoluteReference(source, reference)),
    metrics: fields.metrics,
    relayer: relayer && (yield* buildKeySource(source, ["serve", "relayer"], relayer, around)),
    gasless: {
      minimumNativeBalance: yield* native("minimumBalance"),
      feeMarginPpm: fields.gasless.feeMargin,
      maxDailyLoss: yield* native("maxDailyLoss"),
      maxDailyGas: yield* native("maxDailyGas"),
    },
  };
}

/**
 * One process listens at each address once. By what the files say: a flag that moves a server is of one command.
 * @param daemons where the daemon listens; undefined where the service is a process of its own
 */
export function* checkPorts(
  { listen, metrics }: Partial<Pick<MainFile["serve"], "listen" | "metrics">>,
  daemons: Listen | undefined,
): Found<void> {
  const keys = [
    { key: "http.listen", at: daemons },
    { key: "serve.listen", at: listen },
    { key: "serve.metrics", at: metrics },
  ];
  for (const [index, { key, at: own }] of keys.entries()) {
    const other = keys.slice(0, index).find((one) => one.at && own && overlap(one.at, own));
    if (other !== undefined && own !== undefined)
      yield at`${key.split(".")}: is port ${own.port}, and so is ${other.key} -> give each a port of its own`;
  }
}

const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Port 0 is any free one. */
function overlap(one: Listen, other: Listen): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || EVERYWHERE.has(one.host) || EVERYWHERE.has(other.host);
}

const DATABASE = "service.db";

/**
 * Beside the daemon's: the folder of the files may be one that nobody writes to, as in a container. One that stands beside
 * the file already, where older releases made it, is used on.
 */
function ownDatabase(
  source: Source,
  { overridden, stated, daemons }: { overridden: string | undefined; stated: string | undefined; daemons: string },
): string {
  if (overridden !== undefined) return resolve(overridden);
  if (stated !== undefined) return resolveFrom(source.file, stated);
  const [beside, before] = [join(dirname(daemons), DATABASE), resolveFrom(source.file, DATABASE)];
  return existsSync(before) && !existsSync(beside) ? before : beside;
}
