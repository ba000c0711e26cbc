import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../adapters/clock/system-clock.ts";
import { createChain } from "../adapters/ethers/chain.ts";
import { createStore } from "../adapters/sqlite/daemon/store.ts";
import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import type { Configuration } from "../config/configuration.ts";
import type { ForecastSlot } from "../domain/forecast/forecast.ts";
import { type WorstCase, worstCase } from "../domain/forecast/worst-case.ts";
import type { Address } from "../domain/money/address.ts";
import { isNative, type Token } from "../domain/money/token.ts";
import { readForecastStart } from "../engine/forecast-world.ts";
import { quoteForecast } from "../engine/quote-forecast.ts";
import type { Chain } from "../ports/chain.ts";
import type { Store } from "../ports/store.ts";
import { openDatabase } from "../storage/database.ts";
import { migrateDaemonDatabase } from "./daemon-database.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { openPrices } from "./open-prices.ts";
import { connectionOf, openSwapService } from "./open-swap-service.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { startEmbeddedService } from "./start-embedded-service.ts";

/** Gas of one swap of ours through two pools, as the benchmarks of the settlement contract measure it, with room. */
const GAS_OF_SWAP = 350_000n;
const GAS_OF_APPROVAL = 60_000n;

/** An approval that the first swap of a token needs: exact, and only for its own amount. */
export interface PlannedApproval {
  readonly wallet: string;
  readonly token: Token;
  readonly needed: bigint;
  readonly allowance: bigint;
}

/** What the next slots would do, and what they need for it. */
export interface Plan {
  readonly nowMs: number;
  readonly slots: readonly ForecastSlot[];
  readonly worstCase: WorstCase;
  readonly approvals: readonly PlannedApproval[];
  readonly gas: {
    readonly transactions: number;
    readonly wei: bigint;
    readonly balances: ReadonlyMap<string, bigint>;
  };
  readonly unpriced: readonly { readonly token: string; readonly detail: string }[];
  readonly nativeSymbol: string;
  /** a slot by the wall clock of its strategy's time zone */
  localTime(slot: ForecastSlot): string;
}

interface Opened {
  readonly configuration: Configuration;
  readonly runtime: Runtime;
  readonly chain: Chain;
  readonly store: Store | undefined;
}

/** Reads the chain, the database and the service; starts a service of its own where the embedded one is configured. */
export async function readPlan(
  from: { readonly configuration: Configuration; readonly env: NodeJS.ProcessEnv },
  slots: number,
): Promise<Plan> {
  const { configuration, env } = from;
  const runtime = createRuntime({ level: "error", env });
  const chain = createChain(
    {
      rpcUrls: runtime.secrets.rpcUrls(configuration),
      chainId: configuration.network.chainId,
      timeoutMs: configuration.timing.requestTimeoutMs,
    },
    { clock: systemClock },
  );
  const folder = mkdtempSync(join(tmpdir(), "swapd-plan-"));
  const copy = copyOfDatabase(configuration.database, folder);
  try {
    return await makePlan({ configuration, runtime, chain, store: copy?.store }, { slots, folder });
  } catch (error) {
    if (error instanceof CommandFailure || !(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.no, runtime.redactor.redact(`no plan can be made: ${error.message}`));
  } finally {
    copy?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A copy in a temporary folder: a plan may need a newer schema than the daemon that last ran, and must change nothing. */
function copyOfDatabase(file: string, folder: string): { store: Store; close(): void } | undefined {
  if (!existsSync(file)) return undefined;
  const source = openDatabase({ file, readonly: true });
  const path = join(folder, "swapd.db");
  source.prepare("VACUUM INTO ?").run(path);
  source.close();
  const db = openDatabase({ file: path });
  migrateDaemonDatabase(db);
  return { store: createStore(db), close: () => db.close() };
}

async function makePlan(opened: Opened, asked: { slots: number; folder: string }): Promise<Plan> {
  const { configuration, chain, store } = opened;
  const zones = createIntlZones();
  const settings = {
    policy: configuration.policy,
    strategies: configuration.strategies.map(({ spec, hash }) => ({ spec, specHash: hash })),
  };
  const deps = { store, chain, prices: openPrices(configuration, chain), clock: systemClock, zones };
  const { world, unpriced } = await readForecastStart(deps, settings, asked.slots);
  const slots = await withQuotes(opened, asked.folder, async (service) => await quoteForecast(world, service));
  const specs = new Map(settings.strategies.map(({ spec }) => [spec.id, spec]));
  const approvals = await plannedApprovals(opened, slots);
  return {
    nowMs: world.nowMs,
    slots,
    worstCase: worstCase([...specs.values()], configuration.policy, { nowMs: world.nowMs, zones }),
    approvals,
    gas: await plannedGas(opened, slots),
    unpriced,
    nativeSymbol: configuration.network.nativeSymbol,
    localTime: (slot) => localTime(slot.slotMs, specs.get(slot.strategyId)?.schedule.timezone),
  };
}

type Quotes = Parameters<typeof quoteForecast>[1];

/** Asks the configured service, or one of our own on a free port that lives as long as the plan is made. */
async function withQuotes<T>(opened: Opened, folder: string, work: (service: Quotes) => Promise<T>): Promise<T> {
  const { configuration, runtime } = opened;
  const { url } = configuration.service;
  const serve = {
    ...configuration.serve,
    listen: { host: "127.0.0.1", port: 0 },
    database: join(folder, "service.db"),
    relayer: undefined,
  };
  const embedded = url === "embedded" ? await startEmbeddedService({ ...configuration, serve }, runtime) : undefined;
  const connection = connectionOf(configuration, embedded?.url ?? url, runtime.secrets);
  // A private service has a limiter of its own; a shared one is paced together with the daemon.
  const database = embedded === undefined ? connection.database : join(folder, "swapd.db");
  const service = openSwapService({ ...connection, database }, runtime.logger);
  try {
    return await work(service.client);
  } finally {
    await service.close();
    await embedded?.stop();
  }
}

function walletNameOf(
  configuration: Configuration,
  strategyId: string,
): { name: string; address: Address } | undefined {
  return configuration.strategies.find(({ spec }) => spec.id === strategyId)?.spec.wallet;
}

/** The first sale of each token by each wallet, where its allowance does not suffice already. */
async function plannedApprovals(opened: Opened, slots: readonly ForecastSlot[]): Promise<PlannedApproval[]> {
  const { configuration, chain } = opened;
  const spender = configuration.network.settlement;
  if (spender === undefined) return [];
  const seen = new Set<string>();
  const approvals: PlannedApproval[] = [];
  for (const slot of slots) {
    const wallet = walletNameOf(configuration, slot.strategyId);
    for (const swap of slot.swaps) {
      if (wallet === undefined || swap.problem !== undefined || isNative(swap.sell)) continue;
      const key = `${wallet.address} ${swap.sell.address}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const allowance = await chain.allowance({ token: swap.sell.address, owner: wallet.address, spender });
      if (allowance < swap.amount) {
        approvals.push({ wallet: wallet.name, token: swap.sell, needed: swap.amount, allowance });
      }
    }
  }
  return approvals;
}

/** Swaps that may be self-executed, each with its exact approval, at the fee that the next blocks ask for. */
async function plannedGas(opened: Opened, slots: readonly ForecastSlot[]): Promise<Plan["gas"]> {
  const { configuration, chain } = opened;
  const gasless = new Map(configuration.strategies.map(({ spec }) => [spec.id, spec.gasless]));
  const own = slots
    .filter((slot) => gasless.get(slot.strategyId) !== "only")
    .flatMap((slot) => slot.swaps.filter((swap) => swap.problem === undefined));
  const approvals = own.filter((swap) => !isNative(swap.sell)).length;
  const { baseFeePerGas } = await chain.latest();
  const feePerGas = 2n * baseFeePerGas + (await chain.priorityFee());
  const gas = BigInt(own.length) * GAS_OF_SWAP + BigInt(approvals) * GAS_OF_APPROVAL;
  const balances = new Map<string, bigint>();
  for (const wallet of configuration.wallets.values()) {
    balances.set(wallet.name, await chain.nativeBalance(wallet.address));
  }
  return { transactions: own.length + approvals, wei: gas * feePerGas, balances };
}

/** An instant by a wall clock, with the clock's name, for example "2026-03-30 09:00 Europe/Berlin". */
function localTime(atMs: number, timezone: string | undefined): string {
  const zone = timezone ?? "UTC";
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return `${format.format(atMs)} ${zone}`;
}
