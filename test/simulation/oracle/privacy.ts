import type { Address } from "../../../src/domain/money/address.ts";
import { isFallbackOrder, SHOWN_ORDER, type ShownOrder } from "../../support/fallback-orders.ts";
import { isRelay } from "../world/relays.ts";
import type { SignatureBook, SignedTransaction } from "../world/signatures.ts";
import type { Rows } from "./rows.ts";
import type { Report } from "./signing.ts";

export interface PrivacyOracle {
  sent(raw: string, host: string): void;
  /** so many transactions were sent to private endpoints */
  readonly count: number;
}

/**
 * Judges to whom bytes leave. What was for private endpoints, resent or raised, in this life or another one, reaches no
 * other one; at its nonce only an empty cancellation may.
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
  const hidden = new Set<string>();
  /** orders that were sent privately: what they do, at their nonce */
  const orders = new Set<string>();
  const isEmpty = ({ to, data, value }: SignedTransaction): boolean => to === wallet && data === "0x" && value === 0n;
  const orderOf = ({ nonce, to, data, value }: SignedTransaction): string => `${nonce} ${to} ${value} ${data}`;

  const isFallback = (raw: string): boolean => {
    const order = rows.one<ShownOrder>(SHOWN_ORDER, raw);
    return parts.mostShown !== undefined && order !== undefined && isFallbackOrder(order, parts.mostShown);
  };
  const judgeShown = (signed: SignedTransaction): void => {
    const { raw, nonce } = signed;
    if (hidden.has(raw)) report("S17", `bytes of nonce ${nonce} that were private are shown to everybody`);
    else if (orders.has(orderOf(signed))) report("S17", `the private order of nonce ${nonce} is shown with other fees`);
    else if (parts.isAlwaysPrivate && !isFallback(raw))
      report("S17", `nonce ${nonce} is shown to everybody, and nothing is to be`);
  };
  return {
    get count() {
      return hidden.size;
    },
    sent: (raw, host) => {
      const signed = book.transactions.get(raw);
      if (signed === undefined) return;
      const written = rows.one<{ visibility: string }>("SELECT visibility FROM lane_attempts WHERE raw = ?", raw);
      const reached = isRelay(host) ? "private" : "public";
      if (written !== undefined && written.visibility !== reached)
        report("S17", `nonce ${signed.nonce} is ${written.visibility} and was sent to ${host}`);
      if (isRelay(host)) {
        hidden.add(raw);
        if (!isEmpty(signed)) orders.add(orderOf(signed));
      } else if (!isEmpty(signed) || hidden.has(raw)) judgeShown(signed);
    },
  };
}
