import type { Address } from "../../../src/domain/money/address.ts";
import { isFallbackOrder, SHOWN_ORDER, type ShownOrder } from "../../support/fallback-orders.ts";
import { isRelay } from "../world/relays.ts";
import type { SignatureBook, SignedTransaction } from "../world/signatures.ts";
import type { Rows } from "./rows.ts";
import type { Report } from "./signing.ts";

export interface PrivacyOracle {
  sent(raw: string, host: string): void;
  /** Hears that the rows are those of another database. */
  exchanged(): void;
  /** so many transactions were sent to private endpoints */
  readonly count: number;
}

/**
 * Judges to whom bytes leave. What was for private endpoints, resent or raised, in this life or another one, reaches no
 * other one; at its nonce only an empty cancellation may. A database that was exchanged for another took along what it
 * alone knew: where the operator's file says public by then, equal bytes are signed anew, and shown.
 */
export function createPrivacyOracle(parts: {
  readonly book: SignatureBook;
  readonly rows: Rows;
  readonly wallet: Address;
  /** no life of this world shows anything to everybody that is not empty */
  readonly isAlwaysPrivate: boolean;
  /** the most slippage of an order that everybody sees after a private one came into no block; undefined: there is none */
  readonly mostShown: bigint | undefined;
  report: Report;
}): PrivacyOracle {
  const { book, rows, wallet, report } = parts;
  /** what was sent privately: what it does, at its nonce; of an empty transaction nothing */
  const hidden = new Map<string, string | undefined>();
  let count = 0;
  const isEmpty = ({ to, data, value }: SignedTransaction): boolean => to === wallet && data === "0x" && value === 0n;
  const orderOf = ({ nonce, to, data, value }: SignedTransaction): string => `${nonce} ${to} ${value} ${data}`;

  const isFallback = (raw: string): boolean => {
    const order = rows.one<ShownOrder>(SHOWN_ORDER, raw);
    return parts.mostShown !== undefined && order !== undefined && isFallbackOrder(order, parts.mostShown);
  };
  const judgeShown = (signed: SignedTransaction): void => {
    const { raw, nonce } = signed;
    if (hidden.has(raw)) report("S17", `bytes of nonce ${nonce} that were private are shown to everybody`);
    else if ([...hidden.values()].includes(orderOf(signed)))
      report("S17", `the private order of nonce ${nonce} is shown with other fees`);
    else if (parts.isAlwaysPrivate && !isFallback(raw))
      report("S17", `nonce ${nonce} is shown to everybody, and nothing is to be`);
  };
  return {
    get count() {
      return count;
    },
    sent: (raw, host) => {
      const signed = book.transactions.get(raw);
      if (signed === undefined) return;
      const written = rows.one<{ visibility: string }>("SELECT visibility FROM lane_attempts WHERE raw = ?", raw);
      const reached = isRelay(host) ? "private" : "public";
      if (written !== undefined && written.visibility !== reached)
        report("S17", `nonce ${signed.nonce} is ${written.visibility} and was sent to ${host}`);
      if (isRelay(host)) {
        if (!hidden.has(raw)) count += 1;
        hidden.set(raw, isEmpty(signed) ? undefined : orderOf(signed));
      } else if (!isEmpty(signed) || hidden.has(raw)) judgeShown(signed);
    },
    exchanged: () => {
      const known = "SELECT 1 FROM lane_attempts WHERE raw = ? AND visibility = 'private'";
      for (const raw of hidden.keys()) if (rows.one(known, raw) === undefined) hidden.delete(raw);
    },
  };
}
