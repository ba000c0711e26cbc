import { existsSync } from "node:fs";
import { join } from "node:path";
import { SERVICE_BOOK } from "../../adapters/swap-service/services.ts";
import { type AuditOptions, audit } from "../../audit/audit.ts";
import { formatAuditReport } from "../../audit/format.ts";
import { lateLast, noteAge } from "../../audit/late-nodes.ts";
import { AuditError } from "../../audit/report.ts";
import type { Since } from "../../audit/since.ts";
import type { Mode } from "../../config/configuration.ts";
import type { Secret } from "../../net/secret.ts";
import { createRpc } from "../../sandbox/rpc.ts";
import { STATE_FILE, startSandbox } from "../../sandbox/sandbox.ts";
import { showReading } from "../audit-progress.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import { noteAudit } from "../note-audit.ts";
import { operatorName } from "../operator-name.ts";
import { readInstant } from "../read-instant.ts";
import { createCommandRuntime } from "../runtime.ts";
import { isSandboxRunning } from "../sandbox-facts.ts";
import { configurationOf, findTarget, type Target } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `swapd audit`: checks the database against the chain. A sandbox that was stopped is started again for it, unmined.
 * Ends with 1 when there is a difference. What it found is noted in the database where that can be written.
 */
export async function auditCommand(
  options: { config?: string; json?: boolean; since?: string },
  terminal: Terminal,
): Promise<void> {
  const since = options.since === undefined ? undefined : readSince(options.since, Date.now());
  const target = findTarget(options);
  if (modeOf(target) === "paper") {
    throw new CommandFailure(
      EXIT.no,
      "the mode is paper: nothing of it is on the chain, so that there is nothing to audit; `swapd replay <run>` takes its steps again",
    );
  }
  sayMode(target, options, terminal);
  if (!existsSync(target.database)) {
    throw new CommandFailure(EXIT.no, `there is no database at ${target.database}: nothing to audit yet`);
  }
  const chain = await openChain(target);
  try {
    const { rpcUrls, ...facts } = chain.options;
    const ask = (rpcUrl: string | Secret) => {
      const asked = { ...facts, rpcUrl, database: target.database, since };
      return showReading((onProgress) => audit({ ...asked, onProgress }), terminal, Date.now);
    };
    const inTurn = await lateLast(rpcUrls, Date.now(), (text) => terminal.err(text));
    const found = await auditInTurn(inTurn, ask, terminal).catch(asFailure);
    // A sandbox's blocks come as long as it runs, and it may be stopped.
    const report = target.kind === "sandbox" ? found : noteAge(found, Date.now());
    terminal.out(
      options.json === true
        ? JSON.stringify(report, (_key, value) => (typeof value === "bigint" ? value.toString() : value))
        : formatAuditReport(report),
    );
    const made = { database: target.database, report, since, by: operatorName(), atMs: Date.now() };
    noteAudit(made, terminal);
    if (!report.clean) throw new CommandFailure(EXIT.no, "");
  } finally {
    await chain.stop();
  }
}

/** Of files that are broken it is not known. */
function modeOf(target: Target): Mode | undefined {
  if (target.kind === "broken") return undefined;
  return target.kind === "sandbox" ? target.facts.mode : target.configuration.mode;
}

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A block's number, an instant, or how long ago. @throws CommandFailure when it is none of these */
export function readSince(text: string, nowMs: number): Since {
  if (/^[0-9]{1,15}$/.test(text)) return { block: Number(text) };
  const [, count, unit] = /^([0-9]{1,9})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined)
    return { seconds: Math.floor(nowMs / 1_000) - Number(count) * (SECONDS_OF[unit ?? ""] ?? 1) };
  const atMs = readInstant(text)?.atMs;
  if (atMs !== undefined && atMs > nowMs)
    throw new CommandFailure(EXIT.usage, `--since ${text} has not come yet: nothing would be looked at`);
  if (atMs !== undefined) return { seconds: Math.floor(atMs / 1_000) };
  const message = `--since ${JSON.stringify(text)} is no block, date or duration; write 21000000, 2026-01-31T09:00:00Z or 7d`;
  throw new CommandFailure(EXIT.usage, message);
}

/** A chain that cannot be read says nothing about the rows: it may answer later, and no invariant is broken. */
export function asFailure(error: unknown): never {
  if (!(error instanceof AuditError)) throw error;
  const mayPass = error.code === "CHAIN_UNREADABLE" || error.code === "CHAIN_MOVED";
  throw new CommandFailure(mayPass ? EXIT.tryAgain : EXIT.no, error.message);
}

/**
 * An audit by one endpoint as a whole; where the chain cannot be read there, is another one, or has not come to where it
 * is to begin, by the next one.
 * @throws what the last one ended with
 */
export async function auditInTurn<T>(
  [rpcUrl, ...others]: readonly (string | Secret)[],
  ask: (rpcUrl: string | Secret) => Promise<T>,
  terminal: Pick<Terminal, "err">,
): Promise<T> {
  if (rpcUrl === undefined) throw new CommandFailure(EXIT.configuration, "the configuration names no RPC endpoint");
  try {
    return await ask(rpcUrl);
  } catch (error) {
    if (others.length === 0 || !(error instanceof AuditError) || !OF_ONE_ENDPOINT.has(error.code)) throw error;
    terminal.err(`the next RPC endpoint is asked: ${error.message}`);
    return await auditInTurn(others, ask, terminal);
  }
}

/** Another endpoint may know more, or be of the right chain. */
const OF_ONE_ENDPOINT: ReadonlySet<AuditError["code"]> = new Set(["CHAIN_UNREADABLE", "NOTHING_SINCE", "WRONG_CHAIN"]);

interface AuditedChain {
  readonly options: Omit<AuditOptions, "database" | "rpcUrl"> & { readonly rpcUrls: readonly (string | Secret)[] };
  stop(): Promise<void>;
}

async function openChain(target: Target): Promise<AuditedChain> {
  if (target.kind === "sandbox") return await openSandboxChain(target.facts);
  const { configuration, env } = configurationOf(target);
  const { network, service, wallets } = configuration;
  const rpcUrls = createCommandRuntime(env).secrets.rpcUrls(configuration);
  const settlement = SERVICE_BOOK.get(service.profile)?.isOurs === true ? network.settlement : undefined;
  const { chainId, wrappedNative } = network;
  const safes = [...wallets.values()].flatMap(({ address, proposals }) => (proposals === undefined ? [] : [address]));
  return { options: { rpcUrls, chainId, wrappedNative, settlement, safes }, stop: async () => undefined };
}

async function openSandboxChain(facts: Extract<Target, { kind: "sandbox" }>["facts"]): Promise<AuditedChain> {
  const { chainId, wrappedNative, settlement } = facts;
  if (isSandboxRunning(facts.directory) && (await isUp(facts.rpcUrl, chainId))) {
    return { options: { rpcUrls: [facts.rpcUrl], chainId, wrappedNative, settlement }, stop: async () => undefined };
  }
  const sandbox = await startSandbox({
    directory: facts.directory,
    port: 0,
    blockTimeSeconds: 1,
    seed: 1,
    market: false,
    mining: false,
    stateFile: join(facts.directory, STATE_FILE),
  });
  const { rpcUrl } = sandbox.world;
  // The rows of a sandbox that was cut off may know later blocks than its chain, which was saved before.
  return { options: { rpcUrls: [rpcUrl], chainId, wrappedNative, settlement, hasEnded: true }, stop: sandbox.stop };
}

async function isUp(rpcUrl: string, chainId: number): Promise<boolean> {
  try {
    return BigInt(String(await createRpc(rpcUrl).call("eth_chainId"))) === BigInt(chainId);
  } catch (error) {
    // fetch says TypeError when nobody listens; whatever a node that is up answers must not be taken for that.
    if (error instanceof TypeError) return false;
    throw error;
  }
}
