import type { Address } from "../../domain/money/address.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import type { Change } from "../../ports/changes.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Standing } from "../../ports/reconciliation-questions.ts";
import type { Difference, DifferenceKind, Finding } from "../../ports/reconciliation-store.ts";
import { raiseChange } from "../alerts.ts";
import type { EngineDeps } from "../engine-context.ts";

/** What a marker shows: the database is not the one that signed last. */
export const OF_MARKERS: ReadonlySet<DifferenceKind> = new Set(["lost", "older"]);

/** A finding as it is to be written down. */
export function foundChange(clock: Clock, finding: Finding): Change {
  return { kind: "difference", finding, at: { ms: clock.nowMs(), sinceBoot: clock.sinceBoot() } };
}

/**
 * Until the chain was checked against the rows nothing is signed for a wallet.
 * @param asks whom the check has to ask for logs: one endpoint is not believed once another database may have traded
 */
export function uncheckedChange(clock: Clock, wallet: Address, asks: "one" | "all" = "one"): Change {
  const text = `${wallet} signs nothing until its rows were checked against the chain`;
  const what = { wallet, token: undefined, kind: "unchecked", scope: "wallet", facts: { asks } } as const;
  return foundChange(clock, { key: `unchecked ${wallet}`, ...what, text });
}

/** Whether the next check of the wallet has to ask all endpoints for its logs: its rows are not all that happened. */
export function asksAll(open: readonly Difference[], wallet: Address): boolean {
  const isOfOther = open.some(({ wallet: of, kind }) => of === wallet && (OF_MARKERS.has(kind) || kind === "new"));
  return isOfOther || noteOfAll(open, wallet) !== undefined;
}

/** The note that a wallet is to be checked once more since a person accepted something of it. */
export function noteOfAll(open: readonly Difference[], wallet: Address): Difference | undefined {
  return open.find(({ wallet: of, kind, facts }) => of === wallet && kind === "unchecked" && facts.asks === "all");
}

/**
 * Which note it is that a wallet is unchecked: one that came while a check was under way does not belong to that check.
 */
export function uncheckedOf(open: readonly Difference[], wallet: Address): string | undefined {
  const note = open.find((one) => one.wallet === wallet && one.kind === "unchecked");
  return note === undefined ? undefined : `${note.id} ${note.foundAtMs}`;
}

/**
 * From when on what another database did may be missing in no check: up to then a person accepted it. By a clock that ran
 * ahead it was accepted at no time that is known now.
 * @returns 0 where nothing was accepted since the last check
 */
export function acceptedSince(open: readonly Difference[], wallet: Address, clock: Clock): number {
  const note = noteOfAll(open, wallet);
  return note === undefined || note.foundAtMs > clock.nowMs() ? 0 : note.foundAtMs;
}

/** What of findings is new to the rows, each once. @param rows that were asked for their keys */
export function newOnes(findings: readonly Finding[], { reported }: Pick<Standing, "reported">): readonly Finding[] {
  const byKey = new Map(findings.map((finding) => [finding.key, finding]));
  return [...byKey.values()].filter(({ key }) => !reported.has(key));
}

/**
 * The alert about what is new of a wallet, raised once for what is found together. What is found later is told too: a
 * theft must not be silent because something harmless is open. Not where the database is another one: that halts
 * everything, and all of it follows.
 * @param open what else is open
 */
export function alertOfNew(
  deps: Pick<EngineDeps, "ids" | "clock">,
  { wallet, added, open }: { wallet: Address; added: readonly Finding[]; open: readonly Finding[] },
): readonly Change[] {
  const [first, ...more] = added;
  if (first === undefined) return [];
  const before = open.filter((one) => one.wallet === wallet && one.kind !== "unchecked");
  const isOfOther = before.some(({ kind }) => OF_MARKERS.has(kind));
  const count = more.length + before.length;
  const others = count === 0 ? "" : ` (and ${count} more)`;
  const text = `${first.text}${others}; nothing that it touches is signed. See: swapd db check; accept: swapd db accept`;
  const alert = { severity: "critical", code: "DATABASE_BEHIND", subject: SUBJECT.database(wallet), text } as const;
  return [{ ...raiseChange(deps, alert), replaces: !isOfOther }];
}

/** What was said about the wallet's database is over once nothing of it is open. @param open what is left open then */
export function overIfNothingIsOpen(wallet: Address, open: readonly Finding[]): readonly Change[] {
  const isOpen = open.some((one) => one.wallet === wallet && one.kind !== "unchecked");
  return isOpen ? [] : [{ kind: "alerts-over", subject: SUBJECT.database(wallet) }];
}
