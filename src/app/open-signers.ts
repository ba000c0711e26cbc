import type { RemoteSigner } from "../adapters/remote-signer/remote-signer.ts";
import type { Configuration, RemoteKeySource, WalletConfiguration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { AlertDeps } from "../engine/alerts.ts";
import type { Logger } from "../ports/logger.ts";
import type { Meter } from "../ports/meter.ts";
import type { Signer } from "../ports/signer.ts";
import type { Machine } from "./machine.ts";
import { meteredMachine } from "./metered.ts";
import { keylessSigner } from "./open-paper.ts";
import { openRemoteSigner } from "./open-remote-signer.ts";
import type { SecretOpener } from "./open-secrets.ts";
import { watchSigners } from "./watch-signers.ts";

/** Who signs for the wallets. */
export interface Signers {
  readonly byAddress: ReadonlyMap<Address, Signer>;
  /** Asks those elsewhere for their accounts, until they are closed. */
  keepLooking(): Promise<void>;
  /** Ends the calls under way. */
  giveUp(): void;
  close(): void;
}

interface SignerDeps {
  readonly machine: Machine;
  readonly meter?: Meter | undefined;
  readonly secrets: SecretOpener;
  readonly logger: Logger;
  readonly alerts: AlertDeps;
  onFatal(error: unknown): void;
}

/** What the relayer of the embedded service is called among the wallets: no wallet can have this name. */
const RELAYER = "the relayer";

type Signing = Pick<Configuration, "mode" | "wallets" | "service" | "serve">;

/**
 * Whom signers elsewhere sign for, by name: wallets, and the relayer of the service in this process. On paper nobody signs.
 */
export function keysElsewhere({ mode, wallets, service, serve }: Signing): ReadonlyMap<string, RemoteKeySource> {
  if (mode === "paper") return new Map();
  const keys = [...wallets.values()].map(({ name, key }) => [name, key] as const);
  const relayer = service.url === "embedded" ? [[RELAYER, serve.relayer] as const] : [];
  return new Map([...keys, ...relayer].flatMap(([name, key]) => (key?.kind === "remote" ? [[name, key]] : [])));
}

/** Their names. */
export function signedElsewhere(configuration: Signing): readonly string[] {
  return [...keysElsewhere(configuration).keys()];
}

/**
 * Opens a signer for each wallet, none of which signs before `beforeSigning`. On paper and for a watched account it has no
 * key; of a key that is elsewhere the signer is watched.
 */
export async function openSigners(
  configuration: Configuration,
  deps: SignerDeps,
  beforeSigning: (wallet: Address) => Promise<void>,
): Promise<Signers> {
  const { secrets, logger, alerts } = deps;
  const byAddress = new Map<Address, Signer>();
  const remote = new Map<string, RemoteSigner>();
  const [watch, stopping] = [watchSigners(alerts), new AbortController()];
  const elsewhere = (name: string, key: RemoteKeySource): RemoteSigner =>
    openRemoteSigner(key, secrets.open, {
      machine: deps.machine,
      metered: (machine) => meteredMachine({ ...deps.machine, ...machine }, deps.meter, "signer"),
      hears: (trouble) => watch.heard(name, trouble).catch(deps.onFatal),
      signal: stopping.signal,
    });
  const openOne = async ({ name, key, address }: WalletConfiguration): Promise<Signer> => {
    if (key === undefined || configuration.mode === "paper") return keylessSigner(configuration, address);
    if (key.kind !== "remote") return await secrets.signer(key);
    const signer = elsewhere(name, key);
    remote.set(name, signer);
    return signer;
  };
  for (const wallet of configuration.wallets.values()) {
    const signer = await openOne(wallet);
    if (signer.isWatched === true && wallet.proposals === undefined)
      logger.warn({ wallet: wallet.name }, "a wallet is only watched: nothing is signed for it");
    byAddress.set(
      signer.address,
      guarded(signer, () => beforeSigning(signer.address)),
    );
  }
  // The service has a signer of its own for it: this one is looked at, and asked for no signature.
  const relayer = keysElsewhere(configuration).get(RELAYER);
  if (relayer !== undefined) remote.set(RELAYER, elsewhere(RELAYER, relayer));
  const giveUp = (): void => {
    watch.stop();
    stopping.abort();
  };
  return { byAddress, keepLooking: () => watch.keepLooking(remote), giveUp, close: giveUp };
}

function guarded(signer: Signer, beforeSigning: () => Promise<void>): Signer {
  return {
    address: signer.address,
    isWatched: signer.isWatched,
    signTransaction: async (transaction) => {
      await beforeSigning();
      return await signer.signTransaction(transaction);
    },
    signTypedData: async (typedData) => {
      await beforeSigning();
      return await signer.signTypedData(typedData);
    },
  };
}
