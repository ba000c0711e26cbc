import { BACKTEST_CONTRACT } from "../../adapters/backtest/desk.ts";
import type { Market } from "../../adapters/backtest/market.ts";
import type { World } from "../../adapters/backtest/world.ts";
import { createIntlZones } from "../../adapters/zones/intl-zones.ts";
import type { Configuration } from "../../config/configuration.ts";
import { oneContract } from "../../domain/guard/swap-contracts.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import type { EngineContext, EngineSettings } from "../../engine/engine-context.ts";
import type { Lane } from "../../lane/lane.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Store } from "../../ports/store.ts";
import { digestOf } from "../encoding.ts";
import { engineSettings } from "../engine-settings.ts";
import { addressOnly } from "../open-secrets.ts";
import type { PriceSet } from "./price-files.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/**
 * What the engine is set to: the daemon's settings of this configuration as if it were live, with the one contract of a
 * backtest in the place of the pinned ones, and only tokens that have prices.
 */
export function backtestSettings(configuration: Configuration, { series }: PriceSet): EngineSettings {
  const contracts = oneContract(BACKTEST_CONTRACT);
  const settings = engineSettings(configuration, contracts);
  return {
    ...settings,
    ...{ live: true, onPaper: true, fallback: undefined, signer: undefined, delegates: new Map(), safes: new Set() },
    policy: { ...settings.policy, spenders: [BACKTEST_CONTRACT], trialWays: ["simulate"] },
    tokens: settings.tokens.filter(({ address }) => series.has(address)),
    strategies: settings.strategies.map(({ spec, specHash }) => ({ specHash, spec: unattended(spec) })),
    notifications: { fills: false, starts: false, sameEnds: Number.MAX_SAFE_INTEGER },
  };
}

/** Nobody is there to approve or to be told, and no relayer either: swaps are own transactions, at once. */
function unattended(spec: StrategySpec): StrategySpec {
  return {
    ...spec,
    ...{ gasless: "never", approveAboveUsd: undefined, approveWithinSeconds: undefined, announceSeconds: undefined },
  };
}

/** The engine's context in the world of a backtest. No key is opened, and nothing outside is reached. */
export function backtestContext(
  settings: EngineSettings,
  around: {
    readonly store: Store;
    readonly world: World;
    readonly market: Market;
    readonly clock: VirtualClock;
    readonly wallets: Configuration["wallets"];
  },
): EngineContext {
  const addresses = [...around.wallets.values()].map(({ address }) => address);
  let ids = 0;
  return {
    settings,
    deps: {
      ...{ store: around.store, chain: around.world.chain, service: around.world.service, prices: around.market },
      dataFee: async () => undefined,
      lanes: new Map(addresses.map((address) => [address, NO_LANE])),
      signers: new Map(addresses.map((address) => [address, addressOnly(address)])),
      clock: around.clock,
      ids: {
        newId: (prefix) => {
          ids += 1;
          return `${prefix}-${ids}`;
        },
        randomUint256: () => BigInt(ids),
      },
      ...{ zones: createIntlZones(), logger: QUIET, notifier: { notify: () => undefined }, digest: digestOf },
      crashPoint: () => undefined,
    },
  };
}

const sendsNothing = async (): Promise<never> => {
  throw new Error("a backtest sends nothing");
};

/** Transactions of a backtest are executed by its world; a wallet only has to have a lane. */
const NO_LANE: Lane = {
  tick: sendsNothing,
  cancel: sendsNothing,
  halted: sendsNothing,
  blindness: sendsNothing,
  halt: sendsNothing,
};

/** Steps are counted and not logged: there are tens of thousands. */
const QUIET: Logger = {
  ...{ debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
  child: () => QUIET,
};
