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
  /** Begins with every known token that the account has not begun with, or began without. @throws ChainReadError */
  begun(account: Address): Promise<void>;
  /** with what it is lent for gas; undefined block: the newest */
  balance(of: { readonly account: Address; readonly token: Address }, block?: number): bigint;
  assumed(account: Address, block?: number): AssumedHoldings;
}

type BookReads = "starts" | "holding" | "holdings" | "allowance" | "allowances" | "count" | "waiting";

interface BookDependencies {
  readonly accounts: readonly PaperAccount[];
  /** others who may be paid; one that is an account on paper too is that */
  readonly recipients: readonly Address[];
  /** every token that may be asked about, the native one included */
  readonly tokens: readonly Address[];
  /** whose allowances are those on paper whatever the chain says */
  readonly spenders: readonly Address[];
  readonly rows: Pick<PaperRows, BookReads | "begin">;
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

  /** What the account begins with now: tokens that are new, and those that it began without and should have begun with. */
  const opensOf = (account: Address, amounts: PaperAccount["amounts"]): readonly Address[] => {
    const begun = new Map(rows.starts(account).map(({ token, amount }) => [token, amount]));
    const isNew = !paid.has(account) && hasNothing(rows, account);
    const isOpen = (token: Address): boolean => {
      const amount = begun.get(token);
      return amount === undefined || (amount === 0n && (isNew || (token === NATIVE_TOKEN && isListed(amounts))));
    };
    return [...new Set([NATIVE_TOKEN, ...tokens])].filter(isOpen);
  };

  async function begin(account: Address): Promise<void> {
    const amounts = paid.has(account) ? new Map<Address, bigint>() : amountsOf.get(account);
    const open = opensOf(account, amounts);
    if (open.length === 0) return;
    const { number } = await chain.latest();
    const starts: PaperStart[] = [];
    for (const token of open) {
      const amount = amounts === undefined ? await chain.balance(token, account, number) : (amounts.get(token) ?? 0n);
      starts.push({ token, block: number, amount: amount + spentOfLent(rows, { account, token }, amount) });
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

function isListed(amounts: PaperAccount["amounts"]): boolean {
  return (amounts?.get(NATIVE_TOKEN) ?? 0n) > 0n;
}

/** Began with nothing and sent nothing, as somebody who was only paid: what it is a wallet with is not taken in yet. */
function hasNothing(rows: BookDependencies["rows"], account: Address): boolean {
  const began = rows.starts(account).some(({ amount }) => amount > 0n);
  return !began && rows.count(account) === 0 && rows.waiting(account).length === 0;
}

/** What was spent of lent coins is no part of what the account has afterwards, though of what it began with. */
function spentOfLent(
  rows: BookDependencies["rows"],
  of: { readonly account: Address; readonly token: Address },
  amount: bigint,
): bigint {
  const held = rows.holding(of) ?? 0n;
  return amount > 0n && held < 0n ? -held : 0n;
}
