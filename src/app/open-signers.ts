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

/** The names of the wallets that a signer elsewhere is asked to sign for; on paper none is. */
export function signedElsewhere({ mode, wallets }: Pick<Configuration, "mode" | "wallets">): readonly string[] {
  if (mode === "paper") return [];
  return [...wallets.values()].flatMap(({ name, key }) => (key?.kind === "remote" ? [name] : []));
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
