import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { AssumedHoldings, Chain } from "../../ports/chain.ts";
import type { PaperRows, PaperStart } from "../../ports/paper.ts";

/** An account on paper. */
export interface PaperAccount {
  readonly address: Address;
  /** what it begins with, by token; undefined: what the account holds on the chain then */
  readonly amounts: ReadonlyMap<Address, bigint> | undefined;
  /** gas is lent, whatever it begins with */
  readonly isLentGas?: boolean;
}

/** What an account is lent for gas where it lists no native coin: what gas costs is recorded all the same. */
export const LENT_WEI = 1_000n * 10n ** 18n;

/** Whether an account is lent gas. */
export function isLentGas({ amounts, isLentGas }: PaperAccount): boolean {
  return isLentGas === true || amounts?.has(NATIVE_TOKEN) === false;
}

/** What accounts on paper hold. */
export interface PaperBook {
  has(account: Address): boolean;
  /** Somebody else who may be paid: what swaps on paper brought him comes on top of what the chain says. */
  isPaid(account: Address): boolean;
  /** Begins with every known token that the account has not begun with. @throws ChainReadError */
  begun(account: Address): Promise<void>;
  /** with what it is lent for gas; undefined block: the newest */
  balance(of: { readonly account: Address; readonly token: Address }, block?: number): bigint;
  assumed(account: Address, block?: number): AssumedHoldings;
}

interface BookDependencies {
  readonly accounts: readonly PaperAccount[];
  /** others who may be paid; one that is an account on paper too is that */
  readonly recipients: readonly Address[];
  /** every token that may be asked about, the native one included */
  readonly tokens: readonly Address[];
  /** whose allowances are those on paper whatever the chain says */
  readonly spenders: readonly Address[];
  readonly rows: Pick<PaperRows, "starts" | "begin" | "holding" | "holdings" | "allowance" | "allowances">;
  readonly chain: Pick<Chain, "latest" | "balance">;
}

/** Opens the book on its rows. */
export function createPaperBook(deps: BookDependencies): PaperBook {
  const { accounts, tokens, spenders, rows, chain } = deps;
  const amountsOf = new Map(accounts.map(({ address, amounts }) => [address, amounts]));
  const paid = new Set(deps.recipients.filter((address) => !amountsOf.has(address)));
  const beginning = new Map<Address, Promise<void>>();
  const lentTo = new Set(accounts.filter(isLentGas).map(({ address }) => address));
  const lent = (account: Address, token: Address): bigint =>
    token === NATIVE_TOKEN && lentTo.has(account) ? LENT_WEI : 0n;

  async function begin(account: Address): Promise<void> {
    const begun = new Set(rows.starts(account).map(({ token }) => token));
    const missing = [...new Set([NATIVE_TOKEN, ...tokens])].filter((token) => !begun.has(token));
    if (missing.length === 0) return;
    const { number } = await chain.latest();
    const amounts = paid.has(account) ? new Map<Address, bigint>() : amountsOf.get(account);
    const starts: PaperStart[] = [];
    for (const token of missing) {
      const amount = amounts === undefined ? await chain.balance(token, account, number) : (amounts.get(token) ?? 0n);
      starts.push({ token, block: number, amount });
    }
    rows.begin(account, starts);
  }

  const balance: PaperBook["balance"] = ({ account, token }, block) => {
    const amount = (rows.holding({ account, token }, block) ?? 0n) + lent(account, token);
    return amount > 0n ? amount : 0n;
  };

  return {
    has: (account) => amountsOf.has(account),
    isPaid: (account) => paid.has(account),
    begun: async (account) => {
      const begun = beginning.get(account) ?? begin(account);
      beginning.set(account, begun);
      try {
        await begun;
      } catch (error) {
        beginning.delete(account);
        throw error;
      }
    },
    balance,
    assumed: (owner, block) => {
      const held = rows.holdings(owner, block).filter(({ token }) => token !== NATIVE_TOKEN);
      const allowed = rows.allowances(owner, block);
      const pinned = held
        .flatMap(({ token }) => spenders.map((spender) => ({ token, spender, amount: 0n })))
        .filter(({ token, spender }) => !allowed.some((one) => one.token === token && one.spender === spender));
      return {
        owner,
        native: balance({ account: owner, token: NATIVE_TOKEN }, block),
        balances: held,
        allowances: [...allowed, ...pinned],
      };
    },
  };
}
