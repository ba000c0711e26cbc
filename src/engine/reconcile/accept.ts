import { type Address, NATIVE_TOKEN, toAddress } from "../../domain/money/address.ts";
import { formatAmount } from "../../domain/money/amount.ts";
import type { Swap } from "../../domain/run/run.ts";
import { isLive } from "../../domain/run/states.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { tradedSides, unawareOfAccepted } from "../../domain/strategy/strategy.ts";
import type { Change, Decided } from "../../ports/changes.ts";
import type { AcceptanceRows } from "../../ports/reconciliation-questions.ts";
import type { Difference, KnownChain } from "../../ports/reconciliation-store.ts";
import type { EngineContext, LoadedStrategy } from "../engine-context.ts";
import { overIfNothingIsOpen, uncheckedChange } from "./findings.ts";

/** What accepting needs: the running daemon has it, and a command that took the daemon's place. */
export interface AcceptContext {
  readonly settings: {
    readonly chainId: number;
    readonly strategies: readonly LoadedStrategy[];
    readonly pace: Pick<EngineContext["settings"]["pace"], "maxLifetimeSeconds">;
  };
  readonly deps: Pick<EngineContext["deps"], "clock">;
}

/** These mean that another database signed, and it is not known what of that is still to be filled. */
const OF_ANOTHER_DATABASE: ReadonlySet<Difference["kind"]> = new Set(["new", "lost", "older"]);

/** Accepted before that, what they show would count in no budget. */
const STILL_READ =
  "the wallet's logs are still being read, and what they show is to be accepted with it. Ask again once that has ended";

/** What stays open, and why. */
interface Held {
  readonly difference: Difference;
  readonly why: string;
}

/**
 * A person accepts what the chain or the marker knows and the rows do not. Accepted fills count in the budget of every
 * strategy that may have made them, so that none sells above it; foreign allowances are taken back; then the wallet is
 * checked against the chain once more before it signs.
 * @returns as the value what was accepted, for the person
 */
export function decideAcceptance(context: AcceptContext, rows: AcceptanceRows, by: string): Decided<string> {
  const { clock } = context.deps;
  const atMs = clock.nowMs();
  const capped = { kind: "findings-capped" } as const;
  const refused = (why: string): Decided<string> => ({ changes: [capped], atMs, value: `refused: ${why}` });
  const found = rows.open.filter(({ kind }) => kind !== "unchecked");
  if (found.length === 0) return refused("nothing is open that could be accepted; see: swapd db check");
  const read = new Set(found.flatMap(({ wallet, facts }) => (facts.readUpTo === undefined ? [] : [wallet])));
  const held = found.flatMap((difference) =>
    read.has(difference.wallet) && difference.kind !== "allowance"
      ? [{ difference, why: STILL_READ }]
      : heldBy(difference, rows.swaps),
  );
  const open = found.filter((difference) => !held.some((one) => one.difference === difference));
  if (open.length === 0) return refused([...new Set(held.map(({ why }) => why))].join("; "));
  const youngMs = stillToBeFilled(context, open);
  if (youngMs !== undefined) {
    const instant = new Date(youngMs).toISOString();
    return refused(
      `what another database signed may be filled until its deadline, at the latest ${instant}; accepted before that, such a fill would count in no budget. Ask again then`,
    );
  }
  const known = new Map(rows.known);
  const strategies = [...context.settings.strategies, ...rows.strategies].map(({ spec }) => spec);
  const followed = open.map((difference) => carryOver(context, difference, { by, known, strategies }));
  const said = open.map(({ text }, index) => `${text}${followed[index]?.said ?? ""}`);
  const changes: readonly Change[] = [
    capped,
    ...open.map(({ id }) => ({ kind: "difference-settled", id, by }) as const),
    ...followed.flatMap((one) => one.changes),
    // All else may be the trade of a run that is still open here, and that would trade once more.
    ...(open.some(({ kind }) => kind !== "allowance") ? [{ kind: "open-runs-barred" } as const] : []),
    ...[...new Set(open.map(({ wallet }) => wallet))].flatMap((wallet) => [
      // Anew: a check that has begun already is not the one that comes after this.
      { kind: "checked", wallet } as const,
      uncheckedChange(clock, wallet, "all"),
      ...overIfNothingIsOpen(
        wallet,
        held.map(({ difference }) => difference),
      ),
    ]),
  ];
  const notAccepted = held.map(({ difference, why }) => `not accepted: ${difference.text}: ${why}`);
  const lines = [`accepted ${open.length}:`, ...said, ...notAccepted, ...notKnownTo(context, changes)];
  return { changes, atMs, value: lines.join("\n  ") };
}

/**
 * The balance of before is what shows that a node hides the fill of an order without a nonce: where it is given up while the
 * order is open, its money would be free, and its fill nobody's.
 */
function heldBy(difference: Difference, swaps: readonly Swap[]): readonly Held[] {
  const { kind, scope, wallet, facts } = difference;
  if (kind !== "cannot-prove" || scope === "token") return [];
  const orders = swaps.filter(
    ({ mode, state, terms, proposal, sell, ...swap }) =>
      mode === "gasless" &&
      isLive(state) &&
      (terms?.nonce ?? proposal) === undefined &&
      swap.wallet === wallet &&
      sell.address === (facts.token ?? sell.address),
  );
  const [order] = orders;
  if (order === undefined) return [];
  const amount = order.gross === undefined ? order.sell.symbol : formatAmount({ token: order.sell, raw: order.gross });
  const more = orders.length === 1 ? "" : ` (and ${orders.length - 1} more)`;
  const why = `the order ${order.id} over ${amount} is open${more} and may be what took it, and a node may hide its fill. It ends once the nodes show what became of it (see: swapd show ${order.runId}; another RPC endpoint may show it at once). Ask again then`;
  return [{ difference, why }];
}

/**
 * Until when an order that is in no rows may still be filled: it was signed before this database was
 * checked, perhaps for longer than orders are now. The wall clock may have been set since; only after a boot of the machine
 * there is no better one.
 * @returns undefined when every such order has expired
 */
function stillToBeFilled({ settings, deps }: AcceptContext, open: readonly Difference[]): number | undefined {
  const [nowMs, now] = [deps.clock.nowMs(), deps.clock.sinceBoot()];
  const leftMs = open
    .filter(({ kind }) => OF_ANOTHER_DATABASE.has(kind))
    .map(({ foundAtMs, foundSinceBoot, facts }) => {
      // What a clock that ran ahead found was found now at the latest.
      const ageMs = foundSinceBoot?.id === now.id ? now.ms - foundSinceBoot.ms : nowMs - Math.min(foundAtMs, nowMs);
      return Math.max(settings.pace.maxLifetimeSeconds, Number(facts.lifetimeSeconds ?? 0)) * 1_000 - ageMs;
    });
  const longestMs = Math.max(0, ...leftMs);
  return longestMs > 0 ? nowMs + longestMs : undefined;
}

/** What follows from accepting one, and what is to be said of that. */
interface Followed {
  readonly changes: readonly Change[];
  readonly said?: string;
}

interface Carried {
  readonly by: string;
  /** what is known of the chain, by wallet: what accepting one changes of it, the next one goes by */
  readonly known: Map<Address, KnownChain>;
  /** all that may have traded, in the settings that are known of them */
  readonly strategies: readonly StrategySpec[];
}

function carryOver(context: AcceptContext, difference: Difference, { by, known, strategies }: Carried): Followed {
  const { wallet, facts, kind, scope } = difference;
  const before = known.get(wallet);
  const learn = (after: KnownChain): Change => {
    known.set(wallet, after);
    return { kind: "known-chain", known: after };
  };
  if (kind === "nonce" && before !== undefined) {
    const transactionCount = Number(facts.count);
    const counted = { account: wallet, chainId: context.settings.chainId, transactionCount };
    const changes = [learn({ ...before, transactionCount }), { kind: "count-accepted", counted, by } as const];
    return { changes, ...sayUnseenCoins(difference, strategies) };
  }
  if (kind === "cannot-prove" && scope !== "token" && before !== undefined) {
    const { after, sale } = acceptUnproved(before, difference, strategies);
    return { ...sale, changes: [learn(after), ...sale.changes] };
  }
  // From here on the other database is the one that knows less, should it come back.
  if (kind === "older" || kind === "lost")
    return { changes: [{ kind: "signatures-counted", beyond: Number(facts.signatures ?? 0) }] };
  if (kind === "allowance") {
    const grant = { wallet, token: toAddress(facts.token ?? ""), spender: toAddress(facts.spender ?? "") };
    // An older release did not write the block down.
    const block = Number(facts.block ?? 0);
    return { changes: [{ kind: "grant-adopted", grant, block }], said: "; it is taken back" };
  }
  if (kind === "fill") return countSale(difference, strategies, { sell: facts.sell, buy: facts.buy, sold: facts.sold });
  if (kind === "outflow") return countSale(difference, strategies, { sell: facts.token, sold: facts.amount });
  return { changes: [] };
}

/**
 * What a token misses is gone for good, and may have been a sale. Balances of the others prove what they proved. What was
 * not read is accepted up to there, and no balance of before proves anything more.
 */
function acceptUnproved(
  before: KnownChain,
  difference: Difference,
  strategies: readonly StrategySpec[],
): { readonly after: KnownChain; readonly sale: Followed } {
  const { token, expected, now, toBlock } = difference.facts;
  if (token === undefined) {
    const block = Math.max(before.block, Number(toBlock ?? before.block));
    const sale = { changes: [], said: "; what was sold in them counts in no budget" };
    return { after: { ...before, block, balances: new Map() }, sale };
  }
  const missing = BigInt(expected ?? "0") - BigInt(now ?? "0");
  const balances = [...before.balances].map(([of, was]) => [of, of === token ? was - missing : was] as const);
  const sale = countSale(difference, strategies, { sell: token, sold: missing.toString() });
  return { after: { ...before, balances: new Map(balances) }, sale };
}

/** Sales of the chain's own coin leave no log that names the wallet, where the service's contracts write none. */
function sayUnseenCoins({ wallet, facts }: Difference, strategies: readonly StrategySpec[]): Pick<Followed, "said"> {
  if (facts.areCoinsUnseen !== "true") return {};
  const sellers = strategies.filter(
    (spec) => spec.wallet.address === wallet && tradedSides(spec).sells.some(({ address }) => address === NATIVE_TOKEN),
  );
  const names = [...new Set(sellers.map(({ id }) => id))];
  if (names.length === 0) return {};
  return {
    said: `; what they sold of the chain's own coin is not seen and counts in no budget: pause ${names.join(", ")} unless you know that they sold none`,
  };
}

interface Sale {
  readonly sell: string | undefined;
  /** undefined where only the sold token is known */
  readonly buy?: string | undefined;
  readonly sold: string | undefined;
}

/**
 * A sale counts in the budget of every strategy that may have made it: rather too much than too little. Where none buys
 * what was bought, one did before it was edited: any that sells the token.
 */
function countSale(
  { id, wallet }: Difference,
  strategies: readonly StrategySpec[],
  { sell, buy, sold }: Sale,
): Followed {
  const soldToken = toAddress(sell ?? "");
  const boughtToken = buy === undefined ? undefined : toAddress(buy);
  const has = (tokens: readonly { address: Address }[], token: Address): boolean =>
    tokens.some(({ address }) => address === token);
  const sellers = strategies
    .filter((spec) => spec.wallet.address === wallet)
    .map((spec) => ({ spec, ...tradedSides(spec) }))
    .filter(({ sells }) => has(sells, soldToken));
  const buyers = sellers.filter(({ buys }) => boughtToken === undefined || has(buys, boughtToken));
  const amount = BigInt(sold ?? "0");
  const names = [...new Set((buyers.length > 0 ? buyers : sellers).map(({ spec }) => spec.id))];
  return {
    changes: names.map((strategy) => ({
      kind: "sale-accepted",
      ...{ differenceId: id, strategy, token: soldToken, amount },
    })),
    said:
      names.length === 0
        ? "; no strategy sells this, it counts in no budget"
        : `; it counts in the budget of ${names.join(", ")}`,
  };
}

/** What of the limits that a person relies on knows nothing of what counts in budgets from now on. */
function notKnownTo({ settings }: AcceptContext, changes: readonly Change[]): readonly string[] {
  const counted = new Set(changes.flatMap((change) => (change.kind === "sale-accepted" ? [change.strategy] : [])));
  if (counted.size === 0) return [];
  const unaware = settings.strategies.flatMap(({ spec }) => {
    const what = counted.has(spec.id) ? unawareOfAccepted(spec) : [];
    return what.length === 0 ? [] : [`${spec.id} knows nothing of it in: ${what.join("; ")}`];
  });
  const ofAll = "the policy's max_per_day and max_per_month, `swapd export` and `swapd lots list` know nothing of it";
  const hint =
    unaware.length === 0 ? [] : ["pause what should not trade as if that had not been: swapd pause <strategy>"];
  return [...unaware, ofAll, ...hint];
}
