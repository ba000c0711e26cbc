import { hash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import type { Policy } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import { buildNetwork, buildTokens, findPreset, settlementOf } from "./build-network.ts";
import { buildPolicy } from "./build-policy.ts";
import { checkSettlement } from "./build-policy-lists.ts";
import { buildReference } from "./build-reference.ts";
import { buildServe, buildService } from "./build-service.ts";
import { buildWallets } from "./build-wallets.ts";
import { buildTold, buildWebhook } from "./build-webhook.ts";
import { checkShape } from "./check-shape.ts";
import type { Configuration, LoadedStrategy, TokenConfiguration, WalletConfiguration } from "./configuration.ts";
import { CONFIG_BOUNDS, DEFAULTS } from "./defaults.ts";
import type { Listen } from "./fields.ts";
import { listFolder, readTextFile, resolveFrom, similarName } from "./files.ts";
import { makeProblem, type Problem } from "./problem.ts";
import { readYaml } from "./read-yaml.ts";
import { type MainFile, mainSchema } from "./schemas/main-schema.ts";
import { type PolicyFile, policySchema } from "./schemas/policy-schema.ts";
import { type Path, problemAt, type Source } from "./source.ts";
import { buildStrategy } from "./strategy/build-strategy.ts";
import type { StrategyScope } from "./strategy/scope.ts";
import { strategyWarnings } from "./strategy-warnings.ts";

/** What the caller decides instead of the files. */
export interface LoadOptions {
  /** raw private keys are accepted outside the sandbox too */
  readonly allowRawKey?: boolean;
  /** values that stand above the main file's, such as the sandbox's, whose ports and folder vary; paths from the working folder */
  readonly overrides?: {
    readonly mode?: "dry-run" | "live";
    readonly preset?: string;
    readonly strategies?: string;
    readonly database?: string;
    readonly listen?: Listen;
    readonly serve?: { readonly listen?: Listen; readonly database?: string };
  };
}

/** A configuration, or everything that is wrong with it. */
export type LoadOutcome =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly Problem[] };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the main file and all files it names. All problems of all files are returned at once. Nothing is opened besides
 * these files and, for the addresses of wallets, their keystores; secrets stay references.
 */
export function loadConfiguration(path: string, env: Environment, options: LoadOptions = {}): LoadOutcome {
  const problems: Problem[] = [];
  const texts: string[] = [];
  const source = readSource(resolve(path), problems, texts);
  if (source === undefined) return { ok: false, problems };
  const checked = checkShape(mainSchema, source, { otherFile: { schema: policySchema, name: "the policy's file" } });
  problems.push(...checked.problems);
  const fields = applyOverrides(checked.values, options);
  const configuration = build({ source, fields, env, options, problems, texts });
  if (problems.length > 0 || configuration === undefined) return { ok: false, problems };
  return { ok: true, configuration };
}

interface Loading {
  readonly source: Source;
  readonly fields: Partial<MainFile>;
  readonly env: Environment;
  readonly options: LoadOptions;
  readonly problems: Problem[];
  readonly texts: string[];
}

function applyOverrides(fields: Partial<MainFile>, options: LoadOptions): Partial<MainFile> {
  const { mode, preset, strategies, database } = options.overrides ?? {};
  const { network } = fields;
  return {
    ...fields,
    ...(mode === undefined ? {} : { mode }),
    ...(strategies === undefined ? {} : { strategies: resolve(strategies) }),
    ...(database === undefined ? {} : { database: resolve(database) }),
    ...(network === undefined || preset === undefined ? {} : { network: { ...network, preset: resolve(preset) } }),
  };
}

function build(loading: Loading): Configuration | undefined {
  const { source, fields, problems, env, texts } = loading;
  const mode = fields.mode ?? DEFAULTS.mode;
  const found = fields.network === undefined ? undefined : findPreset(source, fields.network, problems);
  if (found !== undefined) texts.push(found.text);
  const preset = found?.preset;
  const rawKeys = { allowed: loading.options.allowRawKey === true || fields.network?.name === "sandbox" };
  const wallets: ReadonlyMap<string, WalletConfiguration> =
    fields.wallets === undefined ? new Map() : buildWallets(source, fields.wallets, { env, rawKeys }, problems);
  const tokens =
    fields.tokens === undefined || preset === undefined
      ? undefined
      : buildTokens(source, fields.tokens, preset, problems);
  const nativeSymbol = preset?.nativeSymbol ?? "ETH";
  const known = {
    tokens: tokens ?? new Map<string, TokenConfiguration>(),
    names: [...namesIn(source, "tokens"), ...(tokens === undefined ? [nativeSymbol] : [])],
  };
  const settlement = preset === undefined ? undefined : settlementOf(fields.service, preset);
  const beside = { wallets, nativeSymbol, tokens: known, settlement, pegged: peggedOf(tokens) };
  const { policy, policySource, policyFields } = loadPolicy(loading, beside);
  const scope: StrategyScope = {
    wallets,
    walletNames: namesIn(source, "wallets"),
    tokens: known.tokens,
    tokenNames: known.names,
    wrappedNative: preset?.wrappedNative,
    policy,
    policySource,
  };
  const settingsHash = hashOf(texts);
  const strategies = fields.strategies === undefined ? [] : loadStrategies(loading, fields.strategies, scope);
  const service = buildService(source, fields.service, problems);
  const overrides = loading.options.overrides?.serve;
  const serve = buildServe(source, fields.serve, { rawKeys, overrides, nativeSymbol }, problems);
  const around = { service, listen: serve.listen, tokens: known.tokens };
  const reference = buildReference(policySource ?? source, policyFields.reference, around, problems);
  if (fields.network === undefined || preset === undefined || tokens === undefined || policy === undefined)
    return undefined;
  if (fields.service === undefined && namesIn(source, "service").length > 0) return undefined;
  const network = buildNetwork(source, { network: fields.network, service: fields.service, mode }, preset, problems);
  return {
    file: source.file,
    mode,
    network,
    service,
    wallets,
    tokens,
    policy,
    reference,
    strategies,
    warnings: strategyWarnings(strategies, preset.wrappedNative),
    serve,
    webhook: buildWebhook(source, fields.alerts),
    told: buildTold(fields.alerts),
    ...buildPlain(loading),
    origin: {
      files: [source.file, ...(policySource === undefined ? [] : [policySource.file])],
      strategies: fields.strategies === undefined ? undefined : resolveFrom(source.file, fields.strategies),
    },
    hash: hashOf(texts),
    settingsHash,
  };
}

function peggedOf(tokens: ReadonlyMap<string, TokenConfiguration> | undefined): readonly Address[] {
  return [...(tokens?.values() ?? [])].filter(({ peg }) => peg !== undefined).map(({ token }) => token.address);
}

/** The owner's ceilings, and that the contract to sign for is one of those that they allow. */
function loadPolicy(
  loading: Loading,
  known: Omit<Parameters<typeof buildPolicy>[2], "walletNames">,
): { policy: Policy | undefined; policySource: Source | undefined; policyFields: Partial<PolicyFile> } {
  const { source, fields, problems } = loading;
  const policySource = fields.policy === undefined ? undefined : readNamed(loading, ["policy"], fields.policy);
  if (policySource === undefined) return { policy: undefined, policySource, policyFields: {} };
  const shape = checkShape(policySchema, policySource);
  problems.push(...shape.problems);
  const walletNames = namesIn(source, "wallets");
  const policy = buildPolicy(policySource, shape.values, { ...known, walletNames }, problems);
  if (policy !== undefined) {
    const chosen = { settlement: known.settlement, isNamed: fields.service?.settlement !== undefined };
    checkSettlement(source, chosen, { spenders: policy.spenders, source: policySource }, problems);
  }
  return { policy, policySource, policyFields: shape.values };
}

function hashOf(texts: readonly string[]): string {
  return hash("sha256", JSON.stringify(texts));
}

/** Markers of a database that a caller chose stand beside it: a sandbox on a fork is given a real daemon's file. */
function identityOf(configured: string | undefined, { overrides }: LoadOptions, env: Environment): string {
  if (overrides?.database !== undefined) return join(dirname(resolve(overrides.database)), DEFAULTS.identity);
  return configured ?? (env.SWAPD_IDENTITY || DEFAULTS.identity);
}

function buildPlain(loading: Loading) {
  const { source, fields, options, env } = loading;
  const { timing = {}, transactions = {} } = fields;
  return {
    identity: resolveFrom(source.file, identityOf(fields.identity, options, env)),
    database: resolveFrom(source.file, fields.database ?? DEFAULTS.database),
    listen: options.overrides?.listen ?? fields.http?.listen ?? DEFAULTS.listen,
    statusHosts: (fields.http?.hosts ?? []).map((name) => name.toLowerCase()),
    logLevel: fields.log?.level ?? DEFAULTS.logLevel,
    timing: {
      quoteLifetimeSeconds: timing.quoteLifetime ?? DEFAULTS.timing.quoteLifetimeSeconds,
      permitLifetimeSeconds: timing.permitLifetime ?? DEFAULTS.timing.permitLifetimeSeconds,
      pollIntervalMs: timing.pollInterval ?? DEFAULTS.timing.pollIntervalMs,
      requestTimeoutMs: timing.requestTimeout ?? DEFAULTS.timing.requestTimeoutMs,
      shutdownMs: timing.shutdown ?? DEFAULTS.timing.shutdownMs,
      priceSampleIntervalMs: timing.priceSampleInterval ?? DEFAULTS.timing.priceSampleIntervalMs,
      maxRetryAfterMs: timing.maxRetryAfter ?? DEFAULTS.timing.maxRetryAfterMs,
      maxCallWaitMs: timing.maxCallWait ?? DEFAULTS.timing.maxCallWaitMs,
      maxClockSkewSeconds: timing.maxClockSkew ?? DEFAULTS.timing.maxClockSkewSeconds,
    },
    transactions: {
      bumpAfterBlocks: transactions.bumpAfterBlocks ?? DEFAULTS.transactions.bumpAfterBlocks,
      rebroadcastAfterBlocks: transactions.rebroadcastAfterBlocks ?? DEFAULTS.transactions.rebroadcastAfterBlocks,
      maxReplacements: transactions.maxReplacements ?? DEFAULTS.transactions.maxReplacements,
      maxCancellations: transactions.maxCancellations ?? DEFAULTS.transactions.maxCancellations,
    },
    maxAnswerBytes: DEFAULTS.maxAnswerBytes,
  };
}

function namesIn(source: Source, key: string): string[] {
  const { data } = source;
  const map = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[key] : undefined;
  return typeof map === "object" && map !== null ? Object.keys(map) : [];
}

function readSource(file: string, problems: Problem[], texts: string[]): Source | undefined {
  const read = readTextFile(file);
  if ("problem" in read) {
    problems.push(makeProblem({ file, line: 1, column: 1, path: "", message: `the file ${read.problem}` }));
    return undefined;
  }
  texts.push(file.slice(file.lastIndexOf("/") + 1), read.text);
  const yaml = readYaml(file, read.text);
  problems.push(...yaml.problems);
  return yaml.source;
}

/** Reads a file that the main file names; that it cannot be read is a problem of the main file. */
function readNamed(loading: Loading, path: Path, name: string): Source | undefined {
  const file = resolveFrom(loading.source.file, name);
  const read = readTextFile(file);
  if ("text" in read) return readSource(file, loading.problems, loading.texts);
  loading.problems.push(problemAt(loading.source, path, `the file ${file} ${read.problem}`, nameHint(file)));
  return undefined;
}

function nameHint(path: string): string {
  const meant = similarName(path);
  return meant === undefined ? "a path is relative to the folder of this file" : `did you mean "${meant}"?`;
}

const STRATEGY_FILE = /\.ya?ml$/;
const STRATEGY_ID = /^(?!global$)[a-z0-9][a-z0-9-]{0,62}$/;

function loadStrategies(loading: Loading, folderName: string, scope: StrategyScope): LoadedStrategy[] {
  const { source, problems, texts } = loading;
  const folder = resolveFrom(source.file, folderName);
  const listed = listFolder(folder);
  if ("problem" in listed) {
    problems.push(problemAt(source, ["strategies"], `the folder ${folder} ${listed.problem}`, nameHint(folder)));
    return [];
  }
  const names = listed.names.filter((name) => STRATEGY_FILE.test(name));
  if (names.length > CONFIG_BOUNDS.maxStrategies) {
    const message = `the folder holds ${names.length} strategies; at most ${CONFIG_BOUNDS.maxStrategies} are run`;
    problems.push(problemAt(source, ["strategies"], message));
    return [];
  }
  const seen = new Map<string, string>();
  return names.flatMap((name) => {
    const file = resolve(folder, name);
    const id = basename(name).replace(STRATEGY_FILE, "");
    const other = seen.get(id);
    const misnamed = STRATEGY_ID.test(id)
      ? undefined
      : "the file's name is the strategy's id: lower-case letters, digits and hyphens, and not global, which means all";
    const message = other === undefined ? misnamed : `the strategy "${id}" stands in ${other} too`;
    if (message !== undefined)
      problems.push(makeProblem({ file, line: 1, column: 1, path: "", message, suggestion: "rename the file" }));
    seen.set(id, name);
    const strategySource = readSource(file, problems, texts);
    if (strategySource === undefined) return [];
    const spec = buildStrategy({ source: strategySource, scope, problems }, id);
    if (spec === undefined) return [];
    return [{ spec, file, hash: hash("sha256", strategySource.text) }];
  });
}
