import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import { createDataFee } from "../chain/data-fee.ts";
import type { Configuration } from "../config/configuration.ts";
import { simulationMethodsOf } from "../domain/guard/policy.ts";
import type { SwapContracts } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { writeAndNotify } from "../engine/alerts.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { EngineContext } from "../engine/engine-context.ts";
import { laneRules } from "../engine/lane-rules.ts";
import { createReach, type Reach } from "../engine/reach.ts";
import { markBeforeSigning } from "../engine/reconcile/begin.ts";
import { checkWalletCodes } from "../engine/wallet-code.ts";
import { createLane, type Lane } from "../lane/lane.ts";
import type { Redactor } from "../net/redact.ts";
import { hostOf } from "../net/secret.ts";
import type { Chain } from "../ports/chain.ts";
import type { Change } from "../ports/changes.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import type { LaneStore } from "../ports/lane-unit-of-work.ts";
import type { Logger } from "../ports/logger.ts";
import type { Meter } from "../ports/meter.ts";
import type { PriceSource } from "../ports/price-source.ts";
import type { Signer } from "../ports/signer.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { type AbilityWatch, watchAbilities } from "./abilities.ts";
import { type Alerts, openAlerts, watchHeldBack, watchLimit } from "./alerts.ts";
import type { CommitSignal } from "./commit-signal.ts";
import { digestOf } from "./encoding.ts";
import { engineSettings } from "./engine-settings.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { Machine } from "./machine.ts";
import { meteredMachine } from "./metered.ts";
import { openChain } from "./open-chain.ts";
import { openPaper } from "./open-paper.ts";
import { openPrices } from "./open-prices.ts";
import type { SecretOpener } from "./open-secrets.ts";
import { openServices, type Services } from "./open-services.ts";
import { openSigners, signedElsewhere } from "./open-signers.ts";
import { openTreasuries, type Treasuries } from "./open-treasuries.ts";
import { contractsProblem } from "./unsettled.ts";
import { watchAgreement } from "./watch-agreement.ts";
import { alsoAbsent, watchChain, watchService } from "./watch-reach.ts";

/** What a daemon is composed with. */
export interface ComposeDeps {
  readonly machine: Machine;
  readonly db: SqliteDatabase;
  readonly logger: Logger;
  readonly secrets: SecretOpener;
  readonly redactor: Redactor;
  /** named places where a test may stop the process */
  crashPoint(label: string): void;
  /** what is kept of the database outside of its folder; undefined: nothing is */
  readonly marker?: IdentityMarker | undefined;
  /** undefined: nobody watches from outside */
  readonly meter?: Meter | undefined;
  /** told of each commit */
  readonly commits?: Pick<CommitSignal, "committed"> | undefined;
  /** called before each signature; nothing is signed when it throws */
  readonly beforeSigning?: (() => void) | undefined;
  /** called with broken invariants: the process must stop */
  onFatal(error: unknown): void;
}

/** The parts of a daemon, put together and not started. */
export interface ComposedDaemon {
  readonly engine: Engine;
  readonly alerts: Alerts;
  readonly services: Services;
  readonly chain: Chain;
  readonly abilities: AbilityWatch;
  readonly prices: PriceSource;
  /** Asks signers elsewhere for their accounts, until it is closed: one that is away is noticed before a slot needs it. */
  askSigners(): Promise<void>;
  /** Halts wallets whose accounts have code that the configuration does not name. */
  checkWallets(): Promise<void>;
  /** whether they answer, as the calls to them showed */
  readonly node: Reach;
  readonly service: Reach;
}

/**
 * Puts a daemon together from its configuration. Everything of the machine comes in through `deps`, so that a simulation
 * composes the same daemon.
 * @param serviceUrl where the swap service is
 * @throws CommandFailure 78 when the configuration cannot be worked with
 */
export async function composeDaemon(
  configuration: Configuration,
  serviceUrl: string,
  deps: ComposeDeps,
): Promise<ComposedDaemon> {
  const { logger, secrets, db, machine, meter } = deps;
  const [node, service] = [createReach(machine), createReach(machine)];
  const contracts = contractsOf(configuration);
  const alerts = await openAlerts(configuration, { ...deps, machine: meteredMachine(machine, meter, "channel") });
  const abilities = watchAbilities({ ...alerts.deps, logger }, simulationMethodsOf(configuration.policy));
  const listening = { onAbilities: abilities.note, onFault: deps.onFatal };
  const opened = openChain(configuration, secrets, { ...meteredMachine(machine, meter, "node"), ...listening });
  const real = watchAgreement(watchChain(opened, node, machine.clock), alerts.deps);
  const paper = openPaper(configuration, {
    ...{ db, chain: real, clock: machine.clock, contracts },
    client: () => services.client,
  });
  const chain = paper?.chain ?? real;
  await writeAndNotify(alerts.deps, othersOutsideOver(configuration, serviceUrl));
  const listenersTo = (url: string) => ({
    onLimit: unwaited(watchLimit(alerts.deps, url), deps.onFatal),
    onHeldBack: alsoAbsent(
      url === serviceUrl ? service : undefined,
      unwaited(watchHeldBack(alerts.deps, url), deps.onFatal),
    ),
  });
  const services = openServices(configuration, serviceUrl, { secrets, logger, machine, meter, listenersTo });
  const beforeSigning = async (wallet: Address): Promise<void> => {
    deps.beforeSigning?.();
    await markBeforeSigning(context, wallet);
    // Asked again: another daemon may have taken the database meanwhile.
    deps.beforeSigning?.();
  };
  const signers = await openSigners(configuration, { ...deps, alerts: alerts.deps }, beforeSigning);
  const safes = { machine: meteredMachine(machine, meter, "safe"), beforeProposing: beforeSigning };
  const treasuries = await openTreasuries(configuration, { ...deps, ...safes });
  const lanes = new Map<Address, Lane>();
  const context: EngineContext = {
    settings: engineSettings(configuration, contracts),
    deps: {
      ...alerts.deps,
      chain,
      service: watchService(paper?.service(services.client) ?? services.client, service),
      prices: openPrices(configuration, chain),
      dataFee: createDataFee(chain, configuration.network.dataFee),
      secondService: services.second,
      lanes,
      signers: signers.byAddress,
      treasuries: treasuries.byWallet,
      zones: createIntlZones(),
      logger,
      digest: digestOf,
      crashPoint: deps.crashPoint,
      marker: deps.marker,
      meter,
    },
  };
  const engine = createEngine(context, deps.onFatal);
  for (const [account, signer] of signers.byAddress) {
    // Nothing is ever sent for a Safe: its owners do that.
    if (!treasuries.byWallet.has(account))
      lanes.set(account, openLane(configuration, context, { signer, store: engine.committer.laneStore }));
  }
  return {
    ...{ engine, alerts, services: together(services, [treasuries, signers]), chain, abilities, node, service },
    ...{ prices: context.deps.prices, checkWallets: () => checkWalletCodes(context), askSigners: signers.keepLooking },
  };
}

/** All that is called outside, to be given up and closed as one. */
function together(services: Services, others: readonly Pick<Treasuries, "giveUp" | "close">[]): Services {
  return {
    ...services,
    giveUp: () => {
      services.giveUp();
      for (const { giveUp } of others) giveUp();
    },
    close: async () => {
      for (const { close } of others) close();
      await services.close();
    },
  };
}

/** For a caller that waits for nothing: what is wrong with the listener is wrong with the daemon. */
function unwaited<T>(listen: (heard: T) => Promise<void>, onFatal: (error: unknown) => void): (heard: T) => void {
  return (heard) => {
    listen(heard).catch(onFatal);
  };
}

/** Ends the alerts about services and signers that this configuration does not name, and about a chat where it has none. */
function othersOutsideOver(configuration: Configuration, serviceUrl: string): readonly Change[] {
  const { service: second } = configuration.reference;
  const hosts = [serviceUrl, ...(second === undefined ? [] : [second.url])].map(hostOf);
  const unheardOver = { kind: "alerts-over", subject: SUBJECT.chat() } as const;
  return [
    { kind: "alerts-of-others-outside-over", hosts, signed: signedElsewhere(configuration) },
    ...(configuration.chat === undefined ? [unheardOver] : []),
  ];
}

function contractsOf(configuration: Configuration): SwapContracts {
  const { contracts } = configuration.service;
  if (contracts === undefined) throw new CommandFailure(EXIT.configuration, contractsProblem(configuration));
  return contracts;
}

/** A transaction past its deadline is cancelled only once it surely cannot land any more. */
const CANCEL_MARGIN_SECONDS = 2;

function openLane(
  configuration: Configuration,
  context: EngineContext,
  { signer, store }: { signer: Signer; store: LaneStore },
): Lane {
  const { chain, clock, logger, crashPoint } = context.deps;
  return createLane(
    {
      account: signer.address,
      chainId: configuration.network.chainId,
      confirmations: configuration.network.confirmations,
      emptyGasLimit: configuration.network.emptyGasLimit,
      ...configuration.transactions,
      visibility: chain.visibility,
      cancelMarginSeconds: CANCEL_MARGIN_SECONDS,
      ...laneRules(context),
    },
    { store, chain, signer, clock, logger, crashPoint },
  );
}
