import type { Faults } from "../faults.ts";
import type { SimChain } from "./chain.ts";
import { type Ledger, type Moment, type Order, Revert, type SimLog, signedOrder } from "./ledger.ts";
import { RELAYER } from "./places.ts";
import type { SimProfile } from "./profile.ts";
import type { SignatureBook } from "./signatures.ts";
import { quickHash } from "./words.ts";

interface Signed {
  readonly swapSignature: string;
  readonly permitSignature: string | undefined;
}

interface Relay {
  readonly signed: Signed;
  readonly quoteId: string;
  /** when it is sent, each time */
  readonly sendAtMs: readonly number[];
  sent: number;
}

/** So long after an order's deadline its relayer says that nothing will come of it. */
const GIVES_UP_SECONDS = 15;

/** Sends gasless swaps: at once, late, twice or never. The contract decides what comes of them. */
export interface Relayer {
  /** @returns why not */
  accept(quoteId: string, signed: Signed): string | undefined;
  /** Before each block: submits what is due. */
  beforeBlock(): void;
  record(quoteId: string): Readonly<Record<string, unknown>>;
}

export function createRelayer(terms: {
  chain: SimChain;
  book: SignatureBook;
  faults: Faults;
  profile: SimProfile;
  nowMs(): number;
}): Relayer {
  const { chain, book, faults, profile, nowMs } = terms;
  const relays: Relay[] = [];
  /** The order is what was signed, whatever else the service says of it. */
  const orderOf = ({ swapSignature }: Signed): Order =>
    signedOrder(book.address, book.messages.get(swapSignature)?.message as Record<string, string>);
  const of = (quoteId: string): Relay[] => relays.filter((relay) => relay.quoteId === quoteId);
  const permit = (ledger: Ledger, { permitSignature }: Signed, seconds: number): void => {
    const signed = permitSignature === undefined ? undefined : book.messages.get(permitSignature);
    if (signed === undefined) return;
    const { owner, value, nonce, deadline } = signed.message as Record<string, string>;
    const grant = { token: String(signed.domain.verifyingContract), owner: String(owner) };
    const rest = { value: BigInt(value ?? 0), nonce: BigInt(nonce ?? 0), deadline: BigInt(deadline ?? 0) };
    ledger.permit({ ...grant, ...rest }, seconds);
  };
  const permitBefore = (ledger: Ledger, signed: Signed, seconds: number): void => {
    try {
      permit(ledger, signed, seconds);
    } catch (error) {
      // The hosted service's contract goes on with the allowance that is there.
      if (profile.name === "swapd" || !(error instanceof Revert)) throw error;
    }
  };
  const send = (hash: `0x${string}`, signed: Signed): void => {
    const run = (ledger: Ledger, moment: Moment): SimLog[] => {
      permitBefore(ledger, signed, moment.seconds);
      return ledger.settle(orderOf(signed), moment);
    };
    chain.sendForeign({ hash, from: RELAYER, order: JSON.stringify(book.messages.get(signed.swapSignature)), run });
  };
  /** Anybody who has seen a permit can bring it, and nothing else. */
  const sendPermit = (hash: `0x${string}`, signed: Signed): void => {
    const run = (ledger: Ledger, moment: Moment): SimLog[] => {
      permit(ledger, signed, moment.seconds);
      return [];
    };
    chain.sendForeign({ hash, from: RELAYER, order: undefined, run });
  };
  return {
    accept: (quoteId, signed) => {
      if (!book.messages.has(signed.swapSignature)) return "BAD_SIGNATURE";
      if (signed.permitSignature !== undefined && !book.messages.has(signed.permitSignature)) return "BAD_PERMIT";
      const before = of(quoteId).length;
      if (before > 0 && profile.isIdempotent) return undefined;
      if (signed.permitSignature !== undefined && faults.strikes("relayer: permit alone", "relay"))
        sendPermit(quickHash(`permit ${quoteId} ${before}`), signed);
      const keeps = faults.strikes("relayer: keeps", "relay");
      const isLate = faults.strikes("relayer: late", "relay");
      const lateMs = isLate ? faults.chance.between(1, 70, "late", quoteId) * 1_000 : 0;
      const sendAtMs = keeps ? Number.POSITIVE_INFINITY : nowMs() + lateMs;
      const isDoubled = faults.strikes("relayer: doubled", "relay");
      const againMs = profile.isIdempotent ? 0 : faults.chance.between(0, 70, "again", quoteId) * 1_000;
      relays.push({ quoteId, signed, sendAtMs: isDoubled ? [sendAtMs, sendAtMs + againMs] : [sendAtMs], sent: 0 });
      return undefined;
    },
    beforeBlock: () => {
      for (const [index, relay] of relays.entries()) {
        for (let dueMs = relay.sendAtMs[relay.sent]; dueMs !== undefined && dueMs <= nowMs(); ) {
          send(hashOf(relay, index), relay.signed);
          relay.sent += 1;
          dueMs = relay.sendAtMs[relay.sent];
        }
      }
    },
    record: (quoteId) => {
      const [relay] = of(quoteId);
      if (relay === undefined) return { status: "unknown", quoteId };
      const receipt = chain.receipt(hashOf({ ...relay, sent: 0 }, relays.indexOf(relay)));
      const deadline = orderOf(relay.signed).deadline;
      const isGivenUp = BigInt(Math.floor(nowMs() / 1_000) - GIVES_UP_SECONDS) > deadline;
      if (receipt === undefined) return { status: isGivenUp ? "failed" : "pending", quoteId };
      return { status: receipt.succeeded ? "success" : "failed", hash: receipt.hash, quoteId };
    },
  };
}

function hashOf({ quoteId, sent }: Relay, index: number): `0x${string}` {
  return quickHash(`relay ${quoteId} ${index} ${sent}`);
}
