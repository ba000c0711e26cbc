import { hash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Policy } from "../domain/guard/policy.ts";
import type { ServiceBook, ServicePromises } from "../domain/guard/service-promises.ts";
import type { StatedContracts, SwapContracts } from "../domain/guard/swap-contracts.ts";
import { smaller } from "../domain/money/bigint.ts";
import type { ChannelBook } from "../domain/run/alert-channel.ts";
import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import type { Network } from "../networks/network.ts";
import { buildChannels, buildNotifications } from "./build-channels.ts";
import type { Surroundings } from "./build-key.ts";
import { buildNetwork, transactionsOf } from "./build-network.ts";
import { checkPaperGas, databaseOf, withPaper } from "./build-paper.ts";
import { buildPolicy } from "./build-policy.ts";
import { buildReference } from "./build-reference.ts";
import { buildServe, buildService, checkPorts } from "./build-service.ts";
import { buildTokens } from "./build-tokens.ts";
import { buildWallets } from "./build-wallets.ts";
import { checkShape } from "./check-shape.ts";
import { sound } from "./complaint.ts";
import type { Configuration, Mode, TokenConfiguration, WalletConfiguration } from "./configuration.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import type { Listen } from "./fields.ts";
import { resolveFrom } from "./files.ts";
import { loadStrategies, textOf } from "./load-strategies.ts";
import type { Problem } from "./problem.ts";
import { findPreset, type KindProblem, type Loading, readNamed, readSource, report } from "./read-source.ts";
import { type MainFile, mainSchema } from "./schemas/main-schema.ts";
import { type PolicyFile, policySchema } from "./schemas/policy-schema.ts";
import { checkListed, furtherContracts, promisesOf, settledService, statedContracts } from "./service-profile.ts";
import { describePlace, type Source } from "./source.ts";
import type { StrategyScope } from "./strategy/scope.ts";
import { rivalProblems } from "./strategy-warnings.ts";
import { warningsOf } from "./warnings.ts";

/** What the caller decides instead of the files. */
export interface LoadOptions extends Pick<Surroundings, "accountOfKey"> {
  /** the swap services that there are */
  readonly services: ServiceBook;
  /** the kinds of channels that there are */
  readonly channels: ChannelBook;
  /** raw private keys are accepted outside the sandbox too */
  readonly allowRawKey?: boolean;
  /** what is wrong with the kind of a factory's pools in a preset; absent: nothing */
  readonly kindProblem?: KindProblem;
  /** by which slots in quiet hours are looked for; absent: none is warned of */
  readonly zones?: ZoneOffsets;
  /** values that stand above the main file's, such as the sandbox's, whose ports and folder vary; paths from the working folder */
  readonly overrides?: {
    readonly mode?: Mode;
    readonly preset?: string;
    /** the folder, or one file and nothing besides it */
    readonly strategies?: string | { readonly file: string };
    readonly database?: string;
    readonly isFundedElsewhere?: boolean;
    readonly listen?: Listen;
    readonly serve?: { readonly listen?: Listen; readonly database?: string };
  };
}

/** A configuration, or everything that is wrong with it. */
export type LoadOutcome =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly problems: readonly Problem[] };

type Environment = Surroundings["env"];

/**
 * Reads the main file and all files it names. All problems of all files are returned at once. Nothing is opened besides
 * these files and, for the addresses of wallets, their keystores; secrets stay references.
 */
export function loadConfiguration(path: string, env: Environment, options: LoadOptions): LoadOutcome {
  const found: (Problem | undefined)[] = [];
  const loading = load(resolve(path), env, options);
  let step = loading.next();
  for (; step.done !== true; step = loading.next()) found.push(step.value);
  const { value } = step;
  return outcomeOf(value && { ...value, warnings: warningsOf(value, options.zones) }, found);
}

/** How long the event loop is blocked at once while files are read in turns. */
const SLICE_MS = 5;

/**
 * The same for a daemon at work, which does something else between two files. What is allowed but may be a mistake is
 * reported at a start and not checked here.
 */
export async function loadInSlices(path: string, env: Environment, options: LoadOptions): Promise<LoadOutcome> {
  const found: (Problem | undefined)[] = [];
  const loading = load(resolve(path), env, options);
  let sliceEndsMs = performance.now();
  let step = loading.next();
  for (; step.done !== true; step = loading.next()) {
    found.push(step.value);
    if (performance.now() - sliceEndsMs < SLICE_MS) continue;
    await setImmediate();
    sliceEndsMs = performance.now();
  }
  return outcomeOf(step.value, found);
}

function outcomeOf(configuration: Configuration | undefined, found: readonly (Problem | undefined)[]): LoadOutcome {
  const problems = found.filter((problem) => problem !== undefined);
  return problems.length > 0 || configuration === undefined ? { ok: false, problems } : { ok: true, configuration };
}

function* load(file: string, env: Environment, options: LoadOptions): Loading<Configuration | undefined> {
  const source = yield* readSource(file, "name another one by --config or SWAPD_CONFIG, or make one: swapd init");
  if (source === undefined) return undefined;
  const otherFile = { schema: policySchema, name: "the policy's file" };
  const keys = yield* report(source, checkShape(mainSchema, source.data, { otherFile }));
  const given = applyOverrides(keys.fields, options.overrides);
  const around = { ...options, env, allowsRawKeys: options.allowRawKey === true || given.network?.name === "sandbox" };
  const known = yield* readKnown(source, given, around);
  const { service } = known;
  const fields = service === undefined ? given : { ...given, service };
  const folder = fields.strategies === undefined ? undefined : resolveFrom(file, fields.strategies);
  const asked = options.overrides?.strategies;
  const place = typeof asked === "object" ? asked : folder;
  const read = place === undefined ? [] : yield* loadStrategies(source, place, known);
  const strategies = read.flatMap(({ strategy }) => strategy ?? []);
  yield* rivalProblems(strategies, known.wrappedNative);
  const parts = yield* buildServices(source, fields, known, { ...around, overrides: options.overrides?.serve });
  const channels = fields.alerts && (yield* report(source, buildChannels(source, fields.alerts, options.channels)));
  const { policy, policySource, preset, wallets, tokens, promises, contracts } = known;
  const whole = keys.whole && { ...keys.whole, ...fields };
  if (whole === undefined || preset === undefined || policy === undefined || parts === undefined) return undefined;
  yield* report(source, checkPaperGas(whole.mode, { ...known, ...options.overrides, strategies }));
  yield undefined;
  const network = yield* report(
    source,
    buildNetwork(source, whole, {
      ...{ preset, promises, contracts, wallets },
      further: known.further.map(({ target }) => target),
    }),
  );
  const files = [source, ...(policySource === undefined ? [] : [policySource])].map((one) => one.file);
  return {
    ...{ file, mode: whole.mode, network, wallets, tokens, strategies, warnings: [], ...parts },
    policy: cappedBy(policy, whole.network.fees.maxFee),
    channels: channels ?? [],
    ...buildPlain(source, whole, { env, options, preset }),
    origin: { files, strategies: folder },
    hash: hashOf([...known.texts, ...read.flatMap(({ text }) => text)]),
    settingsHash: hashOf(known.texts),
  };
}

function applyOverrides(fields: Partial<MainFile>, overrides: LoadOptions["overrides"]): Partial<MainFile> {
  const { mode, preset, strategies, database } = overrides ?? {};
  const { network } = fields;
  return {
    ...fields,
    ...(mode === undefined ? {} : { mode }),
    ...(typeof strategies === "string" ? { strategies: resolve(strategies) } : {}),
    ...(database === undefined ? {} : { database: resolve(database) }),
    ...(network === undefined || preset === undefined ? {} : { network: { ...network, preset: resolve(preset) } }),
  };
}

/** What strategies and services are checked against, as far as it is in order, and the texts that it was read from. */
interface Known extends StrategyScope {
  readonly preset: Network | undefined;
  readonly nativeSymbol: string;
  readonly services: ServiceBook;
  /** as it is used */
  readonly service: MainFile["service"] | undefined;
  readonly promises: ServicePromises | undefined;
  readonly contracts: StatedContracts;
  /** further sets of contracts, as far as the policy lists them */
  readonly further: readonly SwapContracts[];
  readonly reference: PolicyFile["reference"] | undefined;
  readonly texts: readonly string[];
}

function* readKnown(
  source: Source,
  fields: Partial<MainFile>,
  { services, kindProblem, ...around }: Surroundings & Pick<LoadOptions, "services" | "kindProblem">,
): Loading<Known> {
  const found = fields.network && (yield* findPreset(source, fields.network, kindProblem));
  const preset = found?.preset;
  const accounts: ReadonlyMap<string, WalletConfiguration> =
    fields.wallets === undefined ? new Map() : yield* report(source, buildWallets(source, fields.wallets, around));
  const tokens: ReadonlyMap<string, TokenConfiguration> | undefined =
    fields.tokens && preset && (yield* report(source, buildTokens(fields.tokens, preset)));
  const written = { fields: fields.wallets ?? {}, wallets: accounts };
  const wallets = tokens === undefined ? accounts : yield* report(source, withPaper(written, tokens));
  const nativeSymbol = preset?.nativeSymbol ?? "ETH";
  const service = fields.service && settledService(fields.service, preset);
  const promises = promisesOf(service, services);
  const contracts = preset === undefined ? {} : statedContracts(service, promises, preset);
  const further = preset === undefined ? [] : furtherContracts(service, promises, preset);
  const known = {
    further,
    ...{ preset, nativeSymbol, services, service, promises, contracts, wallets, wrappedNative: preset?.wrappedNative },
    walletNames: namesIn(source, "wallets"),
    tokens: tokens ?? new Map<string, TokenConfiguration>(),
    tokenNames: [...namesIn(source, "tokens"), ...(tokens === undefined ? [nativeSymbol] : [])],
    texts: [...textOf(source), ...(found === undefined ? [] : [found.text])],
  };
  const policySource = fields.policy === undefined ? undefined : yield* readNamed(source, "policy", fields.policy);
  if (policySource === undefined) return { ...known, policy: undefined, policySource, reference: undefined };
  const keys = yield* report(policySource, checkShape(policySchema, policySource.data));
  const placeOf = (key: string): string => describePlace(policySource, [key]);
  const place = describePlace(source, ["timing", "priceSampleInterval"]);
  const samples = { everyMs: fields.timing?.priceSampleIntervalMs, place };
  const policy = yield* report(policySource, sound(buildPolicy(keys, { ...known, samples }, placeOf)));
  if (policy !== undefined)
    yield* report(source, checkListed({ contracts, service }, policy.spenders, placeOf("spenders")));
  const texts = [...known.texts, ...textOf(policySource)];
  const allowed = further.filter((one) => policy?.spenders.includes(one.spender) !== false);
  return { ...known, further: allowed, policy, policySource, reference: keys.fields.reference, texts };
}

/** The services that quote and that we are. @returns undefined when a key of them is broken */
function* buildServices(
  source: Source,
  fields: Partial<MainFile>,
  { nativeSymbol, tokens, policySource, services, contracts, further, reference: asked }: Known,
  around: Surroundings & { overrides: NonNullable<LoadOptions["overrides"]>["serve"] },
): Loading<Pick<Configuration, "service" | "serve" | "reference"> | undefined> {
  const service =
    fields.service && (yield* report(source, buildService(source, fields.service, { services, contracts, further })));
  const daemon = { profile: service?.profile, database: resolveFrom(source.file, fields.database ?? "") };
  const serve =
    fields.serve && (yield* report(source, buildServe(source, fields.serve, { ...around, ...daemon, nativeSymbol })));
  if (fields.serve)
    yield* report(source, checkPorts(fields.serve, service?.url === "embedded" ? fields.http?.listen : undefined));
  if (service === undefined || serve === undefined || asked === undefined || policySource === undefined)
    return undefined;
  const beside = { service, listen: serve.listen, tokens, services };
  const reference = yield* report(policySource, buildReference(policySource, asked, beside));
  return { service, serve, reference };
}

/** The owner's ceiling, or a lower one of the network's fees: never a higher one. */
function cappedBy(policy: Policy, maxFee: bigint | undefined): Policy {
  return { ...policy, maxFeePerGas: smaller(policy.maxFeePerGas, maxFee ?? policy.maxFeePerGas) };
}

function hashOf(texts: readonly string[]): string {
  return hash("sha256", JSON.stringify(texts));
}

/** Markers of a database that a caller chose stand next to it: a sandbox on a fork is given a real daemon's file. */
function identityOf(configured: string | undefined, { overrides }: LoadOptions, env: Environment): string {
  if (overrides?.database !== undefined) return join(dirname(resolve(overrides.database)), "identity");
  // in the image SWAPD_IDENTITY names a volume
  return configured ?? (env.SWAPD_IDENTITY || "identity");
}

function buildPlain(
  source: Source,
  fields: MainFile,
  from: { env: Environment; options: LoadOptions; preset: Network },
) {
  const { alerts, http, log, timing } = fields;
  return {
    identity: resolveFrom(source.file, identityOf(fields.identity, from.options, from.env)),
    retentionMs: fields.retention,
    database: databaseOf(fields.mode, resolveFrom(source.file, fields.database)),
    listen: from.options.overrides?.listen ?? http.listen,
    statusHosts: http.hosts.map((name) => name.toLowerCase()),
    ...{ logLevel: log.level, logFormat: log.format },
    ...buildNotifications(source, alerts),
    ...{ timing, transactions: transactionsOf(fields.transactions, from.preset) },
    maxAnswerBytes: CONFIG_BOUNDS.maxAnswerBytes,
  };
}

function namesIn(source: Source, key: string): string[] {
  const { data } = source;
  const map = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[key] : undefined;
  return typeof map === "object" && map !== null ? Object.keys(map) : [];
}
