import type { Hex } from "../../../src/domain/money/address.ts";
import type { Faults } from "../faults.ts";
import { attempt, type FilledOrder, type ForeignWork, type SimChain } from "./chain.ts";
import { type Ledger, type Moment, type Order, Revert, signedOrder } from "./ledger.ts";
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
  /** of the transactions that it was sent in */
  readonly hashes: Hex[];
}

/** So long after an order's deadline its relayer says that nothing will come of it. */
const GIVES_UP_SECONDS = 15;
/** Some relayers wait so long for other orders, and settle all that they have in one transaction. */
const SETTLES_TOGETHER = 0.4;
const GATHERS_MS = 12_000;

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
  const textOf = ({ swapSignature }: Signed): string => JSON.stringify(book.messages.get(swapSignature));
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
  const settle = (ledger: Ledger, signed: Signed, moment: Moment): FilledOrder => {
    permitBefore(ledger, signed, moment.seconds);
    return { text: textOf(signed), logs: ledger.settle(orderOf(signed), moment) };
  };
  const send = (hash: Hex, all: readonly Relay[]): void => {
    for (const { hashes } of all) hashes.push(hash);
    const run = (ledger: Ledger, moment: Moment): ReturnType<ForeignWork["run"]> => {
      const orders = all
        .map(({ signed }) => attempt(ledger, (simulated) => settle(simulated, signed, moment)))
        .filter((filled) => filled !== undefined);
      if (orders.length === 0) throw new Revert("no order could be filled");
      return { logs: orders.flatMap(({ logs }) => logs), orders };
    };
    chain.sendForeign({ hash, from: RELAYER, run });
  };
  /** Anybody who has seen a permit can bring it, and nothing else. */
  const sendPermit = (hash: Hex, signed: Signed): void => {
    const run = (ledger: Ledger, moment: Moment): ReturnType<ForeignWork["run"]> => {
      permit(ledger, signed, moment.seconds);
      return { logs: [], orders: [] };
    };
    chain.sendForeign({ hash, from: RELAYER, run });
  };
  const gathersMs = faults.chance.of("settles together") < SETTLES_TOGETHER ? GATHERS_MS : 0;
  let notBeforeMs = 0;
  const isDue = ({ sendAtMs, hashes }: Relay): boolean =>
    (sendAtMs[hashes.length] ?? Number.POSITIVE_INFINITY) <= nowMs();
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
      relays.push({ quoteId, signed, sendAtMs: isDoubled ? [sendAtMs, sendAtMs + againMs] : [sendAtMs], hashes: [] });
      return undefined;
    },
    beforeBlock: () => {
      const due = relays.filter(isDue);
      if (due.length === 0 || nowMs() < notBeforeMs) return;
      if (gathersMs === 0) {
        for (const relay of due) while (isDue(relay)) send(hashOf(relay, relays.indexOf(relay)), [relay]);
        return;
      }
      notBeforeMs = nowMs() + gathersMs;
      send(quickHash(due.map((relay) => hashOf(relay, relays.indexOf(relay))).join(" ")), due);
    },
    record: (quoteId) => {
      const [relay] = of(quoteId);
      if (relay === undefined) return { status: "unknown", quoteId };
      const receipt = chain.receipt(relay.hashes[0] ?? "");
      const deadline = orderOf(relay.signed).deadline;
      const isGivenUp = BigInt(Math.floor(nowMs() / 1_000) - GIVES_UP_SECONDS) > deadline;
      if (receipt === undefined) return { status: isGivenUp ? "failed" : "pending", quoteId };
      const isFilled = receipt.orders.some(({ text }) => text === textOf(relay.signed));
      return { status: isFilled ? "success" : "failed", hash: receipt.hash, quoteId };
    },
  };
}

function hashOf({ quoteId, hashes }: Relay, index: number): Hex {
  return quickHash(`relay ${quoteId} ${index} ${hashes.length}`);
}
