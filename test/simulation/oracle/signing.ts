import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import type { Address } from "../../../src/domain/money/address.ts";
import { type Known, knownOf } from "../daemon/files.ts";
import type { SimChain } from "../world/chain.ts";
import { GWEI } from "../world/chain.ts";
import { APPROVE, Ledger, type Order, readOrder, signedOrder } from "../world/ledger.ts";
import { CHAIN_ID, ROUTER, tokenAt, USDC, units } from "../world/places.ts";
import type { SignedTransaction } from "../world/signatures.ts";
import { addressAt, isNativeAddress, wordAt } from "../world/words.ts";
import { type Capability, type Fate, fateOf, mayTake } from "./capabilities.ts";
import { judgeTerms, LONGEST_LIFE_SECONDS, MAX_TRADE_DOLLARS } from "./order-terms.ts";
import type { Rows } from "./rows.ts";

const MAX_FEE = 50n * GWEI;
const SHOWN_WINDOW = `SELECT json_extract(body, '$.windowEndsMs') AS endMs FROM swaps
  WHERE run_id = ? AND position = 0 AND json_extract(body, '$.fallback') IS NOT NULL ORDER BY attempt DESC LIMIT 1`;
/** An hour, and the longest window of a strategy here. */
const LATEST_FALLBACK_MS = 2 * 3_600_000;
/** So long after the last fault nothing of it is left in pools and endpoints. */
const SETTLED_MS = 20_000;

/** An order's longest life after its window nothing of a run is begun; what was decided before that has a minute to be signed. */
const MOST_LATE_MS = LONGEST_LIFE_SECONDS * 1_000;

export type Report = (invariant: string, what: string) => void;

/** Judges every signature in the instant in which it is made, by the chain and by what the owner allowed. */
export interface SigningOracle {
  transaction(signed: SignedTransaction): void;
  message(typedData: TypedData): void;
  /** Whatever leaves must be in the rows already. */
  sent(raw: string): void;
  handedOver(body: string): void;
  /** Somebody has it now, whatever becomes of the database. */
  arrived(raw: string): void;
  /** The process is dead: what it had signed and neither written down nor sent, nobody has any more. */
  died(): void;
  /** The rows are of another database from now on. @returns whether that one knows less of what was signed */
  exchanged(before: Known, after: Known): boolean;
  readonly capabilities: readonly Capability[];
  /** Whether the rows may know nothing of it: it was made for a database that was exchanged. */
  isForgotten(capability: Capability): boolean;
}

export function createSigningOracle(parts: {
  chain: SimChain;
  rows: Rows;
  wallet: Address;
  /** no block that stood was ever taken away: what was confirmed stays */
  isChainSteady: boolean;
  /** the service trades a quote once, however often it is submitted */
  isIdempotent: boolean;
  /** the daemon was started to sign nothing new */
  isDry(): boolean;
  isClockSteady: boolean;
  nowMs(): number;
  /** since when nothing goes wrong any more */
  calmSinceMs(): number | undefined;
  report: Report;
}): SigningOracle {
  const { chain, rows, wallet, nowMs, report, isChainSteady } = parts;
  const capabilities: Capability[] = [];
  const byNonce = new Map<number, SignedTransaction[]>();
  /** so many of the capabilities were made before the newest exchange */
  let forgotten = 0;
  let forgottenPermits = 0;
  /** what the newest database knew that had all its signatures */
  let mostKnown: Known | undefined;
  /** what the rows knew when the key was last used: what is written down to be signed and never was, nobody has */
  let whenUsed: Known | undefined;
  let isBarred = false;
  /** how often the newest exchanged database had been accepted when it came */
  let acceptedThen = 0;
  const signedAtMs = new Map<string, number>();
  const sentRaw = new Set<string>();
  const handed = new Set<string>();
  const permits: { token: string; nonce: bigint; deadline: bigint; text: string }[] = [];

  /** what an exchanged database had signed and the copy only meant to sign: its rows count as many signatures */
  const onlyMeant = new Set<Capability>();

  const isForgotten = (capability: Capability): boolean =>
    capabilities.indexOf(capability) < forgotten || onlyMeant.has(capability);
  /** Whether what nobody knows any more can no longer be filled: in a block that stands, where every block does. */
  const isPast = (deadline: bigint): boolean =>
    BigInt((isChainSteady ? chain.tip : chain.finalized).seconds) > deadline;
  const fateNow = (capability: Capability): Fate => {
    const fate = fateOf(chain, capability);
    // Nobody closes the nonce of what nobody knows any more; past its deadline it reverts.
    return fate === "live" && isForgotten(capability) && isPast(capability.deadline) ? "dead" : fate;
  };
  const judgeMay = (): void => {
    if (isBarred && knownOf(rows).accepted > acceptedThen) isBarred = false;
    if (isBarred) report("S9", "signed with a database that knows less than was signed, and nobody accepted it");
    const halted = rows.one("SELECT 1 FROM modes WHERE scope = 'global' AND mode = 'halted'");
    if (halted !== undefined) report("S5", "signed while a person had halted everything");
  };

  const judgeOrder = (order: Order): void => judgeTerms(order, { chain, wallet, nowMs, report });

  /** One place has one capability that may still happen or has happened: a second one would spend the money twice. */
  const add = (capability: Capability): void => {
    for (const other of capabilities) {
      const isSameTurn = other.place === capability.place;
      const isSameToken = other.token === capability.token && !isNativeAddress(other.token);
      if (!isSameTurn && !isSameToken) continue;
      const fate = fateNow(other);
      if (isSameTurn && fate !== "dead") report("S9", `${capability.place} is signed again while one is ${fate}`);
      const isOver = isForgotten(other) && isPast(other.deadline);
      if (!isSameTurn && isChainSteady && !isOver && mayTake(chain, other, fate)) {
        report("S7", `${capability.place} and ${other.place} may both take ${capability.token}`);
      }
    }
    if (!capabilities.some(({ place }) => place === capability.place)) judgeTime(capability.place);
    capabilities.push(capability);
  };
  /** Of what nobody has signed yet. */
  const judgeFirst = (what: string): void => {
    if (parts.isDry()) report("S5", `${what} is signed in a dry run`);
  };
  /** A decision is of its time: what was open when the machine went off is not begun long after. */
  const judgeTime = (place: string): void => {
    const [run = "", position] = place.split(".");
    if (position !== "0" || !parts.isClockSteady) return;
    const window = rows.one<{ endMs: number }>("SELECT window_ends_ms AS endMs FROM runs WHERE id = ?", run);
    const shown = rows.one<{ endMs: number | null }>(SHOWN_WINDOW, run);
    // What falls back has a window of its own, which begins an hour after the run's at the latest.
    const most = window === undefined ? 0 : window.endMs + LATEST_FALLBACK_MS;
    const endMs = typeof shown?.endMs === "number" ? Math.min(shown.endMs, most) : window?.endMs;
    const lateMs = endMs === undefined ? 0 : nowMs() - endMs;
    if (lateMs > MOST_LATE_MS) report("S5", `${place} is begun ${Math.round(lateMs / 1_000)} s after its window`);
  };
  const strategyOf = (runId: string): string =>
    rows.one<{ strategy: string }>("SELECT strategy FROM runs WHERE id = ?", runId)?.strategy ?? "none";

  /** What is private, where private endpoints are gone from the configuration, is sent to nobody and in nobody's pool. */
  const isUnsendable = ({ raw }: SignedTransaction): boolean =>
    !sentRaw.has(raw) &&
    rows.one("SELECT 1 FROM lane_attempts WHERE raw = ? AND visibility = 'private'", raw) !== undefined;
  const judgeFees = (signed: SignedTransaction, before: readonly SignedTransaction[]): void => {
    const { nonce, maxFeePerGas, maxPriorityFeePerGas, to } = signed;
    const cap = to === wallet ? 2n * MAX_FEE : MAX_FEE;
    if (maxFeePerGas > cap) report("S5", `nonce ${nonce} may pay ${maxFeePerGas} wei for a gas`);
    const calmMs = parts.calmSinceMs() ?? Number.POSITIVE_INFINITY;
    for (const older of before) {
      const isOfCalm = (signedAtMs.get(older.raw) ?? 0) > calmMs + SETTLED_MS;
      if (isOfCalm && !isUnsendable(older)) report("L6", `nonce ${nonce} is replaced though nothing goes wrong`);
      const isRaised = maxFeePerGas * 10n >= older.maxFeePerGas * 11n;
      const isTipRaised = maxPriorityFeePerGas * 10n >= older.maxPriorityFeePerGas * 11n;
      if (!isRaised || !isTipRaised) report("S6", `nonce ${nonce} is replaced without a tenth more in both fees`);
      const isSameAct = older.to === to && older.data === signed.data && older.value === signed.value;
      if (!isSameAct && to !== wallet) report("S6", `nonce ${nonce} is signed for something else`);
      if (older.to === wallet && to !== wallet) report("S6", `nonce ${nonce} is signed again after its cancellation`);
    }
  };

  const transaction = (signed: SignedTransaction): void => {
    const { nonce, to, data, value, chainId, from } = signed;
    const before = byNonce.get(nonce) ?? [];
    if (before.some(({ raw }) => raw === signed.raw)) return;
    judgeMay();
    whenUsed = knownOf(rows);
    if (chainId !== CHAIN_ID) report("S5", `signed for the chain ${chainId}`);
    if (before.length === 0 && nonce > 0 && !byNonce.has(nonce - 1)) report("S6", `nonce ${nonce} leaves a gap`);
    judgeFees(signed, before);
    byNonce.set(nonce, [...before, signed]);
    signedAtMs.set(signed.raw, nowMs());
    const intent = rows.one<{ intent_id: string }>(
      "SELECT intent_id FROM lane_signings WHERE nonce = ? ORDER BY seq DESC",
      nonce,
    )?.intent_id;
    if (intent === undefined) report("S4", `nonce ${nonce} is signed without a row`);
    const isFirst = rows.one("SELECT 1 FROM lane_attempts WHERE intent_id = ?", intent ?? "") === undefined;
    if (isFirst) judgeFirst(`nonce ${nonce}`);
    const name = data.slice(0, 10);
    if (to === wallet && data === "0x" && value === 0n) return;
    const order = to === ROUTER ? readOrder(from, data) : undefined;
    if (order !== undefined) {
      const place = placeOf(intent ?? "none.0.0.swap");
      const older = capabilities.find(
        ({ by, place: at }) => at === place && by.kind === "transaction" && by.nonce === nonce,
      );
      if (older?.by.kind === "transaction") {
        onlyMeant.delete(older);
        older.by.hashes.push(signed.hash);
        return;
      }
      judgeOrder(order);
      const gross = order.amountIn + order.swapFee;
      if (value !== (isNativeAddress(order.fromAsset) ? gross : 0n)) report("S5", `signed a value of ${value}`);
      const by = { kind: "transaction" as const, nonce, hashes: [signed.hash] };
      const run = place.split(".")[0] ?? "";
      const { deadline } = order;
      add({ place, strategy: strategyOf(run), owner: from, token: order.fromAsset, amount: gross, deadline, by });
      return;
    }
    const token = tokenAt(to);
    if (token === undefined || name !== APPROVE || value !== 0n) {
      report("S5", `signed a call of ${to} with ${name} and ${value} wei`);
      return;
    }
    const [spender, amount] = [addressAt(data, 0), wordAt(data, 1)];
    if (spender !== ROUTER) report("S5", `approved ${spender}`);
    const dollars = (amount * chain.prices(chain.tip.number).dollars(token)) / 10n ** BigInt(token.decimals);
    if (dollars > (units(USDC, MAX_TRADE_DOLLARS) * 100n * 11n) / 10n) report("S5", `approved ${amount} of ${to}`);
  };

  const permit = (
    message: Record<string, string>,
    { token, text, swapId }: Record<"token" | "text" | "swapId", string>,
  ): void => {
    const [nonce, deadline, value] = [
      BigInt(message.nonce ?? 0),
      BigInt(message.deadline ?? 0),
      BigInt(message.value ?? 0),
    ];
    if (message.spender !== ROUTER || message.owner !== wallet)
      report("S7", `a permit of ${message.owner} for ${message.spender}`);
    const gross = rows.one<{ amount_in: string }>("SELECT amount_in FROM swaps WHERE id = ?", swapId)?.amount_in;
    if (String(value) !== gross) report("S7", `a permit for ${value}, where ${swapId} sells ${gross}`);
    if (deadline > BigInt(Math.floor(nowMs() / 1_000) + LONGEST_LIFE_SECONDS))
      report("S7", `a permit until ${deadline}`);
    const isUsed = new Ledger(chain.tip.state).permitNonce(token, wallet) > nonce;
    const isOtherLive = permits.some(
      (other, index) =>
        other.token === token &&
        other.text !== text &&
        other.nonce === nonce &&
        !(index < forgottenPermits ? isPast(other.deadline) : BigInt(chain.finalized.seconds) > other.deadline),
    );
    if (isOtherLive && !isUsed && isChainSteady)
      report("S7", `a second permit of ${token} with the nonce ${nonce} while one is live`);
    if (!permits.some((other) => other.text === text)) judgeFirst(`a permit of ${token}`);
    permits.push({ token, nonce, deadline, text });
  };

  const message = (typedData: TypedData): void => {
    const text = JSON.stringify(typedData);
    judgeMay();
    whenUsed = knownOf(rows);
    const row = rows.one<{ swap_id: string }>("SELECT swap_id FROM signatures WHERE typed_data = ?", text);
    if (row === undefined) report("S4", `${typedData.primaryType} is signed without a row`);
    const fields = typedData.message as Record<string, string>;
    const contract = String(typedData.domain.verifyingContract);
    if (String(typedData.domain.chainId) !== String(CHAIN_ID)) report("S5", "signed for another chain");
    if (typedData.primaryType === "Permit" && tokenAt(contract)?.hasPermit === true) {
      permit(fields, { token: contract, text, swapId: row?.swap_id ?? "no swap" });
      return;
    }
    if (typedData.primaryType !== "Swap" || contract !== ROUTER) {
      report("S5", `signed a ${typedData.primaryType} of ${contract}`);
      return;
    }
    const order = signedOrder(wallet, fields);
    const place = placeOf(`${row?.swap_id ?? "none.0.0"}.swap`);
    const isKnown = capabilities.some(
      ({ place: at, by }) =>
        at === place &&
        by.kind === "order" &&
        (order.nonce === undefined ? by.text === text : by.nonce === order.nonce),
    );
    for (const meant of onlyMeant) if (meant.by.kind === "order" && meant.by.text === text) onlyMeant.delete(meant);
    if (isKnown) return;
    judgeFirst(`an order of ${place}`);
    judgeOrder(order);
    const by = { kind: "order" as const, nonce: order.nonce, text };
    const { deadline } = order;
    const run = place.split(".")[0] ?? "";
    const amount = order.amountIn + order.swapFee;
    add({ place, strategy: strategyOf(run), owner: wallet, token: order.fromAsset, amount, deadline, by });
  };

  const isLost = (text: string): boolean =>
    rows.one("SELECT 1 FROM signatures WHERE typed_data = ? AND signature IS NOT NULL", text) === undefined;
  const knowsBytes = (hash: string): boolean =>
    rows.one("SELECT 1 FROM lane_attempts WHERE hash = ?", hash) !== undefined;
  const isOnlyMeant = ({ by }: Capability): boolean =>
    by.kind === "order" ? isLost(by.text) : !by.hashes.some(knowsBytes);
  /** What was signed, and not written down, cannot have been submitted: it is signed again, or nobody has it. */
  const forgetLostOrders = (): void => {
    for (let index = capabilities.length - 1; index >= forgotten; index -= 1) {
      const capability = capabilities[index];
      if (capability?.by.kind !== "order" || onlyMeant.has(capability)) continue;
      if (isLost(capability.by.text)) capabilities.splice(index, 1);
    }
    for (let index = permits.length - 1; index >= forgottenPermits; index -= 1) {
      if (isLost(permits[index]?.text ?? "")) permits.splice(index, 1);
    }
  };

  return {
    capabilities,
    transaction,
    message,
    isForgotten,
    exchanged: (before, after) => {
      for (const capability of capabilities) if (isOnlyMeant(capability)) onlyMeant.add(capability);
      // Nobody replaces with higher fees what he does not know.
      for (const [nonce, signed] of byNonce)
        byNonce.set(
          nonce,
          signed.filter(({ hash }) => knowsBytes(hash)),
        );
      // What was accepted is what the daemon begins with; until then the newest whole database counts.
      const used = whenUsed !== undefined && whenUsed.id === before.id ? whenUsed.signed : 0;
      const isAccepted = before.accepted > acceptedThen;
      acceptedThen = after.accepted;
      if (!isBarred || isAccepted || mostKnown === undefined) {
        mostKnown = { ...before, signed: Math.min(before.signed, used) };
      }
      isBarred = mostKnown.signed > 0 && (after.id !== mostKnown.id || after.signed < mostKnown.signed);
      if (!isBarred) return false;
      forgotten = capabilities.length;
      forgottenPermits = permits.length;
      for (const nonce of byNonce.keys()) byNonce.set(nonce, []);
      return true;
    },
    died: () => {
      forgetLostOrders();
      for (const [nonce, signed] of byNonce) {
        const isLost = ({ raw }: SignedTransaction): boolean =>
          !sentRaw.has(raw) && rows.one("SELECT 1 FROM lane_attempts WHERE raw = ?", raw) === undefined;
        const lost = new Set<string>(signed.filter(isLost).map(({ hash }) => hash));
        if (lost.size === 0) continue;
        byNonce.set(
          nonce,
          signed.filter(({ hash }) => !lost.has(hash)),
        );
        for (const [index, { by }] of [...capabilities.entries()].reverse()) {
          if (by.kind !== "transaction" || !by.hashes.some((hash) => lost.has(hash))) continue;
          by.hashes.splice(0, by.hashes.length, ...by.hashes.filter((hash) => !lost.has(hash)));
          if (by.hashes.length > 0) continue;
          capabilities.splice(index, 1);
          if (index < forgotten) forgotten -= 1;
        }
      }
    },
    arrived: (raw) => void sentRaw.add(raw),
    sent: (raw) => {
      if (rows.one("SELECT 1 FROM lane_attempts WHERE raw = ?", raw) === undefined)
        report("S4", "bytes were sent without a row");
    },
    handedOver: (body) => {
      const { swapSignature } = JSON.parse(body) as { swapSignature?: string };
      const known = rows.one("SELECT 1 FROM signatures WHERE signature = ?", swapSignature ?? "");
      if (known === undefined) report("S4", "a signature was submitted without a row");
      if (handed.has(swapSignature ?? "") && !parts.isIdempotent)
        report("S2", "an order was submitted twice, to a service that would trade it twice");
      handed.add(swapSignature ?? "");
    },
  };
}

/** `<run>.<position>.<attempt>.<purpose>` */
function placeOf(intentId: string): string {
  return intentId.split(".").slice(0, 2).join(".");
}
