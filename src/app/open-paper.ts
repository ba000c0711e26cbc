import { createPaperBook } from "../adapters/paper/paper-book.ts";
import { paperSigner } from "../adapters/paper/paper-bytes.ts";
import { type ChainToRead, createPaperChain } from "../adapters/paper/paper-chain.ts";
import { createPaperService } from "../adapters/paper/paper-service.ts";
import { openFleetingPaper, openPaperRows } from "../adapters/sqlite/paper/open-paper-rows.ts";
import { createDataFee } from "../chain/data-fee.ts";
import type { Configuration } from "../config/configuration.ts";
import { type SwapContracts, spendersIn } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { Signer } from "../ports/signer.ts";
import type { SwapService } from "../ports/swap-service.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { addressOnly } from "./open-secrets.ts";
import { paperAccounts } from "./paper-accounts.ts";

/** The world as accounts on paper see it. */
export interface Paper {
  readonly chain: Chain;
  service(client: SwapService): SwapService;
}

interface PaperSources {
  readonly db: SqliteDatabase;
  readonly chain: Chain;
  readonly clock: Clock;
  readonly contracts: SwapContracts;
  /** the real one */
  client(): SwapService;
}

/**
 * Puts what happens on paper between the daemon and its chain: in mode paper for all wallets, with rows in its own database;
 * in a dry run for those that list what they have. From here on the real chain has no way to send anything.
 * @returns undefined where all wallets are what the chain says
 */
export function openPaper(configuration: Configuration, sources: PaperSources): Paper | undefined {
  const accounts = paperAccounts(configuration);
  if (accounts.length === 0) return undefined;
  const { network, tokens, service, mode } = configuration;
  const { clock, contracts, client } = sources;
  const { broadcast: _, submitEndpoints: __, ...chain } = sources.chain;
  const known = [...tokens.values()].map(({ token }) => token);
  const rows = mode === "paper" ? openPaperRows(sources.db) : openFleetingPaper();
  const spenders = spendersIn({ contracts, furtherContracts: service.furtherContracts });
  const book = createPaperBook({
    ...{ accounts, rows, chain, spenders, recipients: configuration.policy.recipients },
    tokens: known.map(({ address }) => address),
  });
  const pinned = { chainId: network.chainId, contracts, wrappedNative: network.wrappedNative, signer: service.signer };
  return {
    chain: createPaperChain({
      ...{ chain: chain satisfies ChainToRead, rows, book, service: client, pinned },
      dataFee: createDataFee(sources.chain, network.dataFee),
      tokenOf: (address) => known.find((token) => token.address === address),
    }),
    service: (real) => (mode === "paper" ? createPaperService(real, { rows, clock }) : real),
  };
}

/** The account of a wallet that has no key here: on paper its transactions are written down, else it is only watched. */
export function keylessSigner({ mode }: Configuration, address: Address): Signer {
  return mode === "paper" ? paperSigner(address) : addressOnly(address);
}
