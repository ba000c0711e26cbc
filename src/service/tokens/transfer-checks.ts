import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ExtraGas } from "../gas/extra-gas.ts";
import { type NetworkOptions, spenderOf } from "../options.ts";
import type { PoolDirectory } from "../pools/directory.ts";
import type { Snapshot, Snapshots } from "../pools/snapshots.ts";
import { probeTransfers, type TransferVerdict } from "./transfer-probe.ts";

/** Knows whose transfers are exact. */
export interface TransferChecks {
  /**
   * What is known of a token, after a first check of it.
   * @param partners tokens that it may have pools with, besides the hub tokens
   * @returns undefined when it cannot be known: the contracts measure what arrives and enforce the minimum, so quotes
   * go on
   */
  verdict(token: Address, partners: readonly Address[], snapshot: Snapshot): Promise<TransferVerdict | undefined>;
  /** What the last check measured, without another one; undefined when nothing is known. */
  extraGas(token: Address): ExtraGas | undefined;
}

interface Options {
  readonly rpc: JsonRpc;
  readonly network: Pick<NetworkOptions, "settlement" | "router" | "hubTokens">;
}

interface Dependencies {
  readonly directory: PoolDirectory;
  readonly snapshots: Pick<Snapshots, "mode">;
  /** the settlement's executor, known from the first snapshot on */
  readonly executor: () => Address | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * An owner can switch a tax on or off at any time: a token in use is checked again so often, while quotes go on. Where
 * they do not, the caller waits for the check: no request is refused for what was so ten minutes ago.
 */
const FRESH_FOR_MS = 60_000;
/** So old a verdict, good or bad, says nothing any more. */
const VALID_FOR_MS = 10 * 60_000;
/** A node in silence is no reason to keep quotes waiting until their time is over. */
const CHECK_MS = 3_000;
/** After a check without a result. */
const PAUSE_MS = 5_000;
/** The log says at most so often that tokens cannot be simulated: a hostile token must not fill it. */
const REPORT_EVERY_MS = 60 * 60_000;
/** Checks in the background at a time. */
const MAX_RENEWALS = 8;
const MAX_TOKENS = 20_000;
/** Pools of which the deepest is tried; each costs a read of its balance. */
const MAX_HOLDERS = 16;

type CheckToken = (
  token: Address,
  partners: readonly Address[],
  snapshot: Snapshot,
) => Promise<TransferVerdict | undefined>;

/** One check of a token; undefined when it had no result. */
function createTokenCheck({ rpc, network }: Options, dependencies: Dependencies): CheckToken {
  const { snapshots, directory, executor, clock, logger } = dependencies;
  let nextReportMs = Number.NEGATIVE_INFINITY;

  function report(fields: Record<string, unknown>): undefined {
    if (clock.monotonicMs() < nextReportMs) return;
    nextReportMs = clock.monotonicMs() + REPORT_EVERY_MS;
    logger.warn(
      fields,
      "transfers of tokens cannot be simulated; quotes go on, and only the contracts check what arrives",
    );
  }

  return async (token, partners, snapshot) => {
    const readMode = snapshots.mode();
    if (readMode !== undefined && readMode !== "override") {
      return report({ readMode, reason: "the node cannot override code in a call" });
    }
    try {
      const others = [...new Set([...partners, ...network.hubTokens])].filter((other) => other !== token);
      const pools = await Promise.all(others.map((other) => directory.poolsOf(token, other, snapshot.read)));
      const holders = pools.flat().map(({ address }) => address);
      if (holders.length === 0) return undefined;
      const contracts = { settlement: spenderOf(network), executor: executor() };
      const signal = AbortSignal.timeout(CHECK_MS);
      return await probeTransfers(rpc, { token, holders: holders.slice(0, MAX_HOLDERS), ...contracts, signal });
    } catch (error) {
      // Trouble of the node is no verdict; a quote meets it in its own reads, and reports it.
      if (error instanceof RpcError) return report({ token, reason: error.message });
      throw error;
    }
  };
}

interface Entry {
  verdict: TransferVerdict | undefined;
  /** by the monotonic clock, as all times here */
  validUntilMs: number;
  nextCheckMs: number;
  checking: Promise<TransferVerdict | undefined> | undefined;
}

export function createTransferChecks(options: Options, dependencies: Dependencies): TransferChecks {
  const checkToken = createTokenCheck(options, dependencies);
  const { clock } = dependencies;
  const entries = new Map<Address, Entry>();
  let renewals = 0;

  function entryOf(token: Address): Entry {
    const known = entries.get(token);
    if (known !== undefined) return known;
    const never = Number.NEGATIVE_INFINITY;
    const entry: Entry = { verdict: undefined, validUntilMs: never, nextCheckMs: never, checking: undefined };
    entries.set(token, entry);
    const oldest = entries.size > MAX_TOKENS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return entry;
  }

  const verdictOf = (entry: Entry) => (clock.monotonicMs() < entry.validUntilMs ? entry.verdict : undefined);

  async function renew(entry: Entry, checking: ReturnType<CheckToken>): Promise<TransferVerdict | undefined> {
    renewals += 1;
    try {
      const verdict = await checking;
      const nowMs = clock.monotonicMs();
      entry.nextCheckMs = nowMs + (verdict === undefined ? PAUSE_MS : FRESH_FOR_MS);
      if (verdict !== undefined) {
        entry.verdict = verdict;
        entry.validUntilMs = nowMs + VALID_FOR_MS;
      }
      return verdictOf(entry);
    } finally {
      entry.checking = undefined;
      renewals -= 1;
    }
  }

  return {
    async verdict(token, partners, snapshot) {
      const entry = entryOf(token);
      const known = verdictOf(entry);
      if (clock.monotonicMs() < entry.nextCheckMs) return known;
      const goesOn = known?.kind === "exact";
      if (goesOn && renewals >= MAX_RENEWALS) return known;
      entry.checking ??= renew(entry, checkToken(token, partners, snapshot));
      if (!goesOn) return entry.checking;
      // What goes wrong in the background is reported to the first caller that waits for it.
      entry.checking.catch(() => undefined);
      return known;
    },
    extraGas(token) {
      const entry = entries.get(token);
      const verdict = entry && verdictOf(entry);
      return verdict?.kind === "exact" ? verdict.extraGas : undefined;
    },
  };
}
