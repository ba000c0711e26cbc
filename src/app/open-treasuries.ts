import { createRateLimiter } from "../adapters/limiter/rate-limiter.ts";
import { createBothPlaces } from "../adapters/proposals/both-places.ts";
import { createProposalFolder } from "../adapters/proposals/folder.ts";
import { createProposer } from "../adapters/proposals/proposer.ts";
import {
  createTransactionServiceCalls,
  type TransactionServiceCalls,
} from "../adapters/proposals/transaction-service/service-calls.ts";
import { createTransactionService } from "../adapters/proposals/transaction-service/transaction-service.ts";
import type { Configuration, TransactionServiceConfiguration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { Logger } from "../ports/logger.ts";
import type { Signer } from "../ports/signer.ts";
import type { Treasury } from "../ports/treasury.ts";
import type { Machine } from "./machine.ts";
import { addressOnly, type SecretOpener } from "./open-secrets.ts";

/** The Safes among the wallets, each with the place of its proposals. */
export interface Treasuries {
  readonly byWallet: ReadonlyMap<Address, Treasury>;
  /** Ends the calls under way. */
  giveUp(): void;
  close(): void;
}

interface TreasuryDeps {
  readonly machine: Pick<Machine, "clock" | "sharedClock" | "fetch" | "random">;
  readonly secrets: SecretOpener;
  readonly logger: Logger;
}

/** Opens the places where proposals go. On paper nothing is proposed: there are none. */
export async function openTreasuries(
  configuration: Configuration,
  deps: TreasuryDeps & { beforeProposing(safe: Address): Promise<void> },
): Promise<Treasuries> {
  const { wallets, mode } = configuration;
  const byWallet = new Map<Address, Treasury>();
  const opened: Opened[] = [];
  for (const { address: safe, proposals } of wallets.values()) {
    if (proposals === undefined || mode === "paper") continue;
    const { folder, service } = proposals;
    const files = folder === undefined ? undefined : createProposalFolder({ safe, folder }, deps.machine);
    const posted = service && (await openPosted(configuration, service, { safe, deps, opened }));
    const treasury = files !== undefined && posted !== undefined ? createBothPlaces(files, posted) : (files ?? posted);
    if (treasury === undefined) continue;
    const publish: Treasury["publish"] = async (proposal) => {
      await deps.beforeProposing(safe);
      return await treasury.publish(proposal);
    };
    byWallet.set(safe, { ...treasury, publish });
  }
  return {
    byWallet,
    giveUp: () => {
      for (const { giveUp } of opened) giveUp();
    },
    close: () => {
      for (const { close } of opened) close();
    },
  };
}

type Opened = Pick<Treasuries, "giveUp" | "close">;

/** Without a key where nothing is signed. */
async function openPosted(
  configuration: Configuration,
  service: TransactionServiceConfiguration,
  {
    safe,
    deps,
    opened,
  }: { readonly safe: Address; readonly deps: Parameters<typeof openTreasuries>[1]; readonly opened: Opened[] },
): Promise<Treasury> {
  const { mode, network } = configuration;
  const { key, address } = service.delegate;
  const delegate = mode === "live" ? await deps.secrets.signer(key) : addressOnly(address);
  const { calls, ...closing } = openTransactionService(configuration, service, deps);
  opened.push(closing);
  const proposer = createProposer(delegate, { safe, chainId: network.chainId });
  return createTransactionService({ safe, proposer: guarded(proposer, () => deps.beforeProposing(safe)) }, calls);
}

function guarded(proposer: Signer, beforeSigning: () => Promise<void>): Signer {
  return {
    ...proposer,
    signTypedData: async (typedData) => {
      await beforeSigning();
      return await proposer.signTypedData(typedData);
    },
  };
}

/** The same Safes as they are looked at: what would be proposed is known, and nothing is. */
export function treasuriesToLookAt({ wallets, mode }: Configuration): ReadonlyMap<Address, Treasury> {
  const found = [...wallets.values()].flatMap(({ address: safe, proposals }): readonly Treasury[] => {
    if (proposals === undefined || mode === "paper") return [];
    const { folder, service } = proposals;
    const proposer = service && addressOnly(service.delegate.address);
    const publish = async (): Promise<never> => {
      throw new Error(`the Safe ${safe} is only looked at here, and something was to be proposed`);
    };
    return [{ safe, bindsNonce: folder === undefined, proposer, freeNonce: async (next) => next, publish }];
  });
  return new Map(found.map((treasury) => [treasury.safe, treasury]));
}

/** Calls a second that the hosted service allows. */
const PER_SECOND = { keyless: 2, keyed: 5 };
/** Few proposals are under way at once. */
const MAX_QUEUE = 100;

/** Its calls are paced together over all processes on one database, in a file of their own. */
export function openTransactionService(
  { database, timing, maxAnswerBytes }: Configuration,
  { url, apiKey: reference }: TransactionServiceConfiguration,
  { machine, secrets, logger }: TreasuryDeps,
): { readonly calls: TransactionServiceCalls; giveUp(): void; close(): void } {
  const apiKey = reference && secrets.open(reference);
  const { clock, sharedClock, fetch, random } = machine;
  const limiter = createRateLimiter(
    {
      ...{ file: `${database}.proposals.limiter.db`, baseUrl: url, apiKey, maxQueue: MAX_QUEUE },
      limitPerSecond: apiKey === undefined ? PER_SECOND.keyless : PER_SECOND.keyed,
      ...{ longestWaitMs: timing.maxCallWaitMs, longestRetryAfterMs: timing.maxRetryAfterMs },
    },
    { clock, sharedClock, logger, random },
  );
  const stopping = new AbortController();
  const bounds = { timeoutMs: timing.requestTimeoutMs, maxBytes: maxAnswerBytes, signal: stopping.signal };
  return {
    calls: createTransactionServiceCalls({ url, apiKey, ...bounds }, { limiter, fetch }),
    giveUp: () => stopping.abort(),
    close: () => {
      stopping.abort();
      limiter.close();
    },
  };
}
