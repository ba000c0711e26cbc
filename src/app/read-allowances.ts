import { existsSync } from "node:fs";
import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { hasTables } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration, WalletConfiguration } from "../config/configuration.ts";
import { spendersIn } from "../domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { valueUp } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import { isRefusedByToken, refusedByToken } from "../engine/refused-by-token.ts";
import type { Chain } from "../ports/chain.ts";
import type { PriceSource } from "../ports/price-source.ts";
import type { ApprovalRows, ReadModel, SpenderInUse } from "../ports/read-model.ts";
import { openDatabase } from "../storage/database.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { openChain } from "./open-chain.ts";
import { openPrices } from "./open-prices.ts";
import { createCommandRuntime } from "./runtime.ts";

/** An allowance that stands on the chain now. */
export interface StandingAllowance {
  readonly wallet: WalletConfiguration;
  readonly token: Token;
  readonly spender: Address;
  readonly amount: bigint;
  /** dollars (1e-18), rounded up; undefined without a reference price, and for one without a bound */
  readonly usd: bigint | undefined;
  readonly swap: string | undefined;
}

/** One that its token refuses to tell, which says nothing against the node. */
export interface UnreadAllowance extends Pick<StandingAllowance, "wallet" | "token" | "spender"> {
  readonly reason: string;
}

/** What the chain shows of the allowances that stand. */
export interface AllowancesSeen {
  readonly allowances: readonly StandingAllowance[];
  readonly unread: readonly UnreadAllowance[];
}

interface Chosen {
  readonly wallet?: string;
  readonly token?: string;
  /** list the others where a token refuses to tell */
  readonly skipsRefused?: boolean;
}

/** More than any supply: such an allowance was meant to be unlimited. */
const UNBOUNDED = 2n ** 128n;

/** Whether an allowance is so large that it has no bound in practice. */
export function isUnbounded(amount: bigint): boolean {
  return amount >= UNBOUNDED;
}

/**
 * Every allowance of the wallets that stands on the chain: of the configured tokens, for the pinned contract and for all
 * that were ever granted one.
 * @throws CommandFailure when the chain cannot be read
 */
export async function readAllowances(
  found: { readonly configuration: Configuration; readonly env: NodeJS.ProcessEnv },
  only: Chosen = {},
): Promise<AllowancesSeen> {
  const { configuration, env } = found;
  if (configuration.mode === "paper")
    throw new CommandFailure(
      EXIT.no,
      "the mode is paper: its approvals are on paper too, and none of them is on the chain",
    );
  const runtime = createCommandRuntime(env);
  const chain = openChain(configuration, runtime.secrets);
  const approvals = async (of: Parameters<ReadModel["approvals"]>[0]): Promise<ApprovalRows> =>
    existsSync(configuration.database) ? await readRows(configuration.database, of) : NOTHING;
  try {
    const read = { approvals, chain, prices: openPrices(configuration, chain) };
    return await allowancesOnChain(configuration, read, only);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = isRefusedByToken(error)
      ? `what may be taken is not known: ${error.message}; try again once the token answers`
      : `the chain could not be read: ${error.message}; check the RPC endpoints`;
    throw new CommandFailure(EXIT.no, runtime.redactor.redact(message));
  }
}

/** The same with a chain that is open, and rows that are. @throws when the chain cannot be read */
export async function allowancesOnChain(
  configuration: Configuration,
  read: {
    readonly approvals: ReadModel["approvals"];
    readonly chain: Pick<Chain, "allowance">;
    readonly prices: PriceSource;
  },
  only: Chosen = {},
): Promise<AllowancesSeen> {
  const { chain, prices } = read;
  const wallets = [...configuration.wallets.values()].filter(
    ({ name }) => only.wallet === undefined || name === only.wallet,
  );
  const tokens = [...configuration.tokens.values()]
    .map(({ token }) => token)
    .filter(({ address }) => address !== NATIVE_TOKEN && (only.token === undefined || address === only.token));
  const addresses = { wallets: wallets.map(({ address }) => address), tokens: tokens.map(({ address }) => address) };
  const { using, ...rows } = await read.approvals(addresses);
  const spenders = [...new Set([...pinnedSpenders(configuration), ...rows.spenders])];
  const allowances: StandingAllowance[] = [];
  const unread: UnreadAllowance[] = [];
  const places = tokens.flatMap((token) =>
    wallets.flatMap((wallet) => spenders.map((spender) => ({ token, wallet, spender }))),
  );
  for (const { token, wallet, spender } of places) {
    const asked = chain.allowance({ token: token.address, owner: wallet.address, spender });
    const amount = await (only.skipsRefused === true ? asked.catch(refusedByToken) : asked);
    if (typeof amount === "string") unread.push({ wallet, token, spender, reason: amount });
    if (amount === 0n || typeof amount === "string") continue;
    const usd = await dollarsOf(prices, token, amount);
    const isOf = (one: SpenderInUse): boolean =>
      one.wallet === wallet.address && one.token === token.address && one.spender === spender;
    const user = using.find(isOf);
    allowances.push({ wallet, token, spender, amount, usd, swap: user?.swap });
  }
  return { allowances, unread };
}

async function dollarsOf(prices: PriceSource, token: Token, amount: bigint): Promise<bigint | undefined> {
  if (isUnbounded(amount)) return undefined;
  const price = await prices.price(token);
  return "missing" in price ? undefined : valueUp({ raw: amount, decimals: token.decimals }, price.usd);
}

/** Whom the configuration lets be approved: they are known without a database, too. */
export function pinnedSpenders({
  service: { contracts, furtherContracts },
  policy,
}: Pick<Configuration, "service" | "policy">): readonly Address[] {
  return [...(contracts === undefined ? [] : spendersIn({ contracts, furtherContracts })), ...policy.spenders];
}

const NOTHING: ApprovalRows = { spenders: [], using: [] };

async function readRows(file: string, of: Parameters<ReadModel["approvals"]>[0]): Promise<ApprovalRows> {
  const db = openDatabase({ file, readonly: true });
  try {
    return hasTables(db) ? await createReadModel(db).approvals(of) : NOTHING;
  } finally {
    db.close();
  }
}
