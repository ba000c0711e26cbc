import { resolve } from "node:path";
import { buildNative } from "./build-native.ts";
import { buildKeySource, type RawKeyRule } from "./build-wallets.ts";
import type { ServeConfiguration, ServiceConfiguration } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Listen } from "./fields.ts";
import { resolveFrom } from "./files.ts";
import type { Problem } from "./problem.ts";
import { absoluteReference } from "./references.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import { type Path, problemAt, type Source } from "./source.ts";

/** Names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The service that quotes. By default our own, embedded. */
export function buildService(
  source: Source,
  fields: MainFile["service"] | undefined,
  problems: Problem[],
): ServiceConfiguration {
  const { profile = "swapd", url = "embedded", apiKey, signer } = fields ?? {};
  const path = ["service", "url"];
  if (url === "embedded") {
    if (profile !== "swapd") {
      const message = `the embedded service speaks the profile swapd, not ${profile}`;
      problems.push(problemAt(source, path, message, 'give the URL of the service: url: "https://..."'));
    }
  } else checkServiceUrl(source, path, { url, hasKey: apiKey !== undefined }, problems);
  if (signer !== undefined && profile === "swapd") {
    const message = "the profile swapd signs no transactions, so it has no signer";
    problems.push(problemAt(source, ["service", "signer"], message, "leave the key out"));
  }
  return { profile, url, apiKey: apiKey === undefined ? undefined : absoluteReference(source, apiKey), signer };
}

/** A service's URL is a host and a path, and a key crosses no network in the clear. */
export function checkServiceUrl(
  source: Source,
  path: Path,
  { url, hasKey }: { url: string; hasKey: boolean },
  problems: Problem[],
): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    problems.push(problemAt(source, path, 'is neither "embedded" nor an http or https URL'));
  } else if (parsed.username !== "" || parsed.password !== "" || parsed.search !== "" || parsed.hash !== "") {
    problems.push(
      problemAt(source, path, "a service's URL is a host and a path only", "an API key goes into apiKey beside it"),
    );
  } else if (hasKey && parsed.protocol === "http:" && !LOOPBACK.has(parsed.hostname)) {
    problems.push(problemAt(source, path, "the API key would cross the network in the clear", "use https"));
  }
}

/** Our own service: where it listens, what it allows, and who sends its gasless swaps. */
export function buildServe(
  source: Source,
  fields: MainFile["serve"],
  from: {
    rawKeys: RawKeyRule;
    overrides: { readonly listen?: Listen; readonly database?: string } | undefined;
    nativeSymbol: string;
  },
  problems: Problem[],
): ServeConfiguration {
  const { listen, database, apiKeys = [], requestsPerSecond, relayer, gasless = {} } = fields ?? {};
  const native = (name: "minimumBalance" | "maxDailyLoss" | "maxDailyGas"): bigint | undefined => {
    const field = { path: ["serve", "gasless", name], money: gasless[name], nativeSymbol: from.nativeSymbol };
    return buildNative(source, field, problems);
  };
  const { trustedProxies = [], corsOrigins = [], metrics } = fields ?? {};
  return {
    listen: from.overrides?.listen ?? listen ?? DEFAULTS.serve.listen,
    database:
      from.overrides?.database === undefined
        ? resolveFrom(source.file, database ?? DEFAULTS.serve.database)
        : resolve(from.overrides.database),
    apiKeys: apiKeys.map((reference) => absoluteReference(source, reference)),
    requestsPerSecond: requestsPerSecond ?? DEFAULTS.serve.requestsPerSecond,
    trustedProxies,
    corsOrigins,
    metrics,
    relayer:
      relayer === undefined
        ? undefined
        : buildKeySource(source, ["serve", "relayer"], { fields: relayer, rawKeys: from.rawKeys }, problems),
    gasless: {
      minimumNativeBalance: native("minimumBalance") ?? DEFAULTS.serve.gasless.minimumNativeBalance,
      feeMarginPpm: gasless.feeMargin ?? DEFAULTS.serve.gasless.feeMarginPpm,
      maxDailyLoss: native("maxDailyLoss") ?? DEFAULTS.serve.gasless.maxDailyLoss,
      maxDailyGas: native("maxDailyGas") ?? DEFAULTS.serve.gasless.maxDailyGas,
    },
  };
}
