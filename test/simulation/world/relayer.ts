import type { Address } from "../../../src/domain/money/address.ts";
import type { Faults } from "../faults.ts";
import type { SimChain } from "./chain.ts";
import type { Ledger, Moment, Order, SimLog } from "./ledger.ts";
import { RELAYER } from "./places.ts";
import type { SignatureBook } from "./signatures.ts";
import { quickHash } from "./words.ts";

interface Signed {
  readonly swapSignature: string;
  readonly permitSignature: string | undefined;
}

interface Relay {
  readonly signed: Signed;
  readonly sendAtMs: number;
  readonly isDoubled: boolean;
  sent: boolean;
}

/** Sends gasless swaps: at once, late, twice or never. The contract decides what comes of them. */
export interface Relayer {
  /** @returns why not */
  accept(quoteId: string, signed: Signed): string | undefined;
  /** Before each block: hands over what is due. */
  beforeBlock(): void;
  record(quoteId: string): Readonly<Record<string, unknown>>;
}

export function createRelayer(terms: {
  chain: SimChain;
  book: SignatureBook;
  faults: Faults;
  nowMs(): number;
}): Relayer {
  const { chain, book, faults, nowMs } = terms;
  const relays = new Map<string, Relay>();
  const send = (hash: `0x${string}`, signed: Signed): void => {
    const run = (ledger: Ledger, moment: Moment): SimLog[] => {
      const permit = signed.permitSignature === undefined ? undefined : book.messages.get(signed.permitSignature);
      if (permit !== undefined) {
        const { owner, value, nonce, deadline } = permit.message as Record<string, string>;
        const grant = { token: String(permit.domain.verifyingContract), owner: String(owner) };
        const rest = { value: BigInt(value ?? 0), nonce: BigInt(nonce ?? 0), deadline: BigInt(deadline ?? 0) };
        ledger.permit({ ...grant, ...rest }, moment.seconds);
      }
      return ledger.settle(signedOrder(book, signed.swapSignature), moment);
    };
    chain.sendForeign({ hash, from: RELAYER, run });
  };
  return {
    accept: (quoteId, signed) => {
      if (!book.messages.has(signed.swapSignature)) return "BAD_SIGNATURE";
      if (signed.permitSignature !== undefined && !book.messages.has(signed.permitSignature)) return "BAD_PERMIT";
      if (relays.has(quoteId)) return undefined;
      const keeps = faults.strikes("relayer: keeps", "relay");
      const isLate = faults.strikes("relayer: late", "relay");
      const lateMs = isLate ? faults.chance.between(1, 70, "late", quoteId) * 1_000 : 0;
      const sendAtMs = keeps ? Number.POSITIVE_INFINITY : nowMs() + lateMs;
      const isDoubled = faults.strikes("relayer: doubled", "relay");
      relays.set(quoteId, { signed, sendAtMs, isDoubled, sent: false });
      return undefined;
    },
    beforeBlock: () => {
      for (const [quoteId, relay] of relays) {
        if (relay.sent || relay.sendAtMs > nowMs()) continue;
        relay.sent = true;
        send(quickHash(`relay ${quoteId}`), relay.signed);
        if (relay.isDoubled) send(quickHash(`relay ${quoteId} again`), relay.signed);
      }
    },
    record: (quoteId) => {
      const receipt = chain.receipt(quickHash(`relay ${quoteId}`));
      if (!relays.has(quoteId)) return { status: "unknown", quoteId };
      if (receipt === undefined) return { status: "pending", quoteId };
      return { status: receipt.succeeded ? "success" : "failed", hash: receipt.hash, quoteId };
    },
  };
}

/** The order is what was signed, whatever else the service says of it. */
function signedOrder(book: SignatureBook, signature: string): Order {
  const message = book.messages.get(signature)?.message as Record<string, string>;
  const number = (name: string): bigint => BigInt(message[name] ?? 0);
  const address = (name: string): Address => String(message[name]) as Address;
  return {
    ...{ owner: book.address, sender: address("sender"), recipient: address("recipient") },
    ...{ fromAsset: address("fromAsset"), toAsset: address("toAsset"), deadline: number("deadline") },
    ...{ amountOutMin: number("amountOutMin"), swapFee: number("swapFee"), amountIn: number("amountIn") },
    nonce: number("nonce"),
  };
}
