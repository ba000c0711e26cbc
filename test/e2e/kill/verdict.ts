import { Transaction } from "ethers";
import { isFallbackOrder } from "../../support/fallback-orders.ts";
import { replayAll } from "../../support/replays.ts";
import type { ChainWitness, Outflow } from "./chain-witness.ts";
import { FALLBACK, type KillStrategy } from "./kill-configuration.ts";
import type { KillWorld } from "./kill-world.ts";
import type { Past } from "./operator.ts";
import {
  type Recorded,
  type RecordedRelay,
  type RecordedSwap,
  readFallbackOrders,
  readRecorded,
  readRelay,
} from "./recorded.ts";

const NATIVE = `0x${"0".repeat(40)}`;
const RUN_ENDS = new Set(["filled", "partial", "skipped", "failed"]);

/** What a check of everything showed. */
export interface Verdict {
  readonly violations: readonly string[];
  readonly fills: { readonly selfExecuted: number; readonly gasless: number };
  /** transactions that were tried publicly because no block had the private one */
  readonly shown: number;
}

/**
 * Holds the rows of all daemons, and of the service where it is ours, against the chain.
 * @param from.funding transactions that gave the wallets their funds
 * @param from.pasts by the name of a track, the databases that it had before
 * @param from.pausedMs until when the daemons had to trade, milliseconds of the epoch
 */
export async function checkAll(
  world: KillWorld,
  from: { chain: ChainWitness; funding: ReadonlySet<string>; pasts: ReadonlyMap<string, Past>; pausedMs: number },
): Promise<Verdict> {
  const { chain } = from;
  const violations: string[] = [];
  const fills = { selfExecuted: 0, gasless: 0 };
  for (const { name, wallet, database } of world.tracks) {
    const recorded = readRecorded(database);
    const before = (from.pasts.get(name)?.left ?? []).map(readRecorded);
    const filled = await checkFills(wallet, recorded, { chain, ignored: from.funding });
    fills.selfExecuted += filled.byMode.selfExecuted;
    fills.gasless += filled.byMode.gasless;
    const found = [
      ...checkSlots(recorded, world.strategies, from.pausedMs),
      ...checkPlaces(recorded, world.fallsBack),
      ...replayAll(database).problems,
      ...filled.found,
      ...checkFilledOnce([...before, recorded]),
      ...checkBudgets(filled.soldOf, world),
      ...(before.length === 0 ? await checkNonces(wallet, recorded, chain) : await checkMinedOnce(recorded, chain)),
      ...(await checkAllowances({ owner: wallet, spender: world.router, tokens: world.tokens }, chain)),
      ...(world.profile === "swapd" ? await checkSettlements(wallet, recorded, chain) : []),
    ];
    violations.push(...found.map((violation) => `${name}: ${violation}`));
  }
  const secrecy = checkSecrecy(world);
  violations.push(...secrecy.found);
  if (world.profile === "swapd") violations.push(...(await checkSwapsOfRelay(world, chain)));
  return { violations, fills, shown: secrecy.shown };
}

/**
 * Everything is sent privately: the node is sent empty cancellations, where there is a fallback orders of their own after
 * private ones that were finally cancelled, and no byte of what the other endpoint got.
 */
function checkSecrecy(world: KillWorld): { readonly found: readonly string[]; readonly shown: number } {
  const { node, submit } = world.gates;
  const orders = new Map(world.tracks.flatMap(({ database }) => [...readFallbackOrders(database)]));
  const [shown, wrong]: [string[], string[]] = [[], []];
  for (const raw of node.sent) {
    const order = orders.get(raw);
    const isFallback = order !== undefined && isFallbackOrder(order, FALLBACK.slippagePpm);
    if (!submit.sent.has(raw) && isEmpty(Transaction.from(raw))) continue;
    (isFallback && !submit.sent.has(raw) ? shown : wrong).push(raw);
  }
  const found = wrong.map((raw) => `the private transaction ${Transaction.from(raw).hash} was shown to everybody`);
  return { found: submit.sent.size === 0 ? ["nothing was sent privately"] : found, shown: shown.length };
}

function isEmpty({ from, to, data, value }: Transaction): boolean {
  return from === to && data === "0x" && value === 0n;
}

/** Checks the rows of our own service against the chain. */
export async function checkSwapsOfRelay(world: KillWorld, chain: ChainWitness): Promise<readonly string[]> {
  const relay = readRelay(world.serviceDatabase);
  const wallets = world.tracks.map(({ wallet }) => wallet);
  return [...(await checkRelay(relay, wallets, chain)), ...(await checkNonces(world.relayer, relay, chain))];
}

/**
 * Every slot from the first to the last one is a run with one end, or lies in one gap; none is both, twice or missing. The
 * last one of each strategy, or the database where it has none yet, is no older than two slots at the pause.
 */
export function checkSlots(recorded: Recorded, strategies: readonly KillStrategy[], pausedMs: number): string[] {
  const found: string[] = [];
  for (const { id, everySeconds } of strategies) {
    const everyMs = everySeconds * 1_000;
    const handled = new Map<number, number>();
    const note = (slotMs: number): void => void handled.set(slotMs, (handled.get(slotMs) ?? 0) + 1);
    for (const run of recorded.runs) if (run.strategy === id) note(run.slot_ms);
    for (const gap of recorded.gaps) {
      if (gap.strategy !== id) continue;
      const slots = (gap.last_slot_ms - gap.first_slot_ms) / everyMs + 1;
      if (slots !== gap.count) found.push(`a gap of ${id} counts ${gap.count} slots where ${slots} are`);
      for (let slot = gap.first_slot_ms; slot <= gap.last_slot_ms; slot += everyMs) note(slot);
    }
    const slots = [...handled.keys()].sort((a, b) => a - b);
    const last = slots.at(-1);
    if ((last ?? recorded.createdMs) < pausedMs - 2 * everyMs)
      found.push(`${id} was paused at ${pausedMs}, and its last slot is ${last ?? "none"}`);
    for (const [index, slot] of slots.entries()) {
      if (handled.get(slot) !== 1) found.push(`the slot ${slot} of ${id} was handled ${handled.get(slot)} times`);
      const before = slots[index - 1];
      if (before !== undefined && slot - before !== everyMs)
        found.push(`${id} lost the slots from ${before} to ${slot}`);
    }
  }
  const ends = new Map(recorded.runEnds.map(({ subject_id, ends: count }) => [subject_id, count]));
  for (const run of recorded.runs) {
    if (!RUN_ENDS.has(run.state)) found.push(`run ${run.id} is ${run.state}`);
    if (ends.get(run.id) !== 1) found.push(`run ${run.id} has ${ends.get(run.id) ?? 0} ends`);
  }
  return found;
}

/** One place in a run is signed for once and filled once; where there is a fallback, once more after a cancelled one. */
function checkPlaces(recorded: Recorded, fallsBack: boolean): string[] {
  const places = Map.groupBy(recorded.swaps, ({ run_id, position }) => `${run_id} ${position}`);
  return [...places].flatMap(([place, swaps]) => {
    const all = swaps.filter(({ id }) => recorded.signed.has(id));
    const isReplaced = fallsBack && all.length === 2 && all.some(({ state }) => state === "cancelled");
    const signed = isReplaced ? 1 : all.length;
    const filled = swaps.filter(({ state }) => state === "final").length;
    const found: string[] = [];
    if (signed > 1) found.push(`${place} was signed for ${signed} times`);
    if (filled > 1) found.push(`${place} was filled ${filled} times`);
    return found;
  });
}

interface Fills {
  readonly found: readonly string[];
  /** what was sold, by token and the chain alone */
  readonly soldOf: ReadonlyMap<string, bigint>;
  readonly byMode: { readonly selfExecuted: number; readonly gasless: number };
}

/** Everything that left the wallet is one swap's fill, and every fill of the rows left the wallet. */
async function checkFills(
  wallet: string,
  recorded: Recorded,
  from: { chain: ChainWitness; ignored: ReadonlySet<string> },
): Promise<Fills> {
  const { chain } = from;
  const found: string[] = [];
  const soldOf = new Map<string, bigint>();
  const final = recorded.swaps.filter(({ state }) => state === "final");
  const unclaimed = new Set(final);
  const outflows = (await chain.outflows(wallet)).filter(({ hash }) => !from.ignored.has(hash));
  for (const outflow of [...outflows, ...(await nativeSales(final, chain))]) {
    soldOf.set(outflow.token, (soldOf.get(outflow.token) ?? 0n) + outflow.amount);
    if (recorded.accepted.has(outflow.hash)) continue;
    const claims = final.filter(({ hash, sell_token }) => hash === outflow.hash && sell_token === outflow.token);
    const [swap] = claims;
    if (swap === undefined || claims.length > 1 || !unclaimed.delete(swap)) {
      found.push(`${outflow.amount} of ${outflow.token} left in ${outflow.hash}, which ${claims.length} swaps claim`);
      continue;
    }
    if (swap.sold !== String(outflow.amount)) found.push(`${swap.id} says it sold ${swap.sold}, not ${outflow.amount}`);
  }
  for (const swap of unclaimed) found.push(`${swap.id} is final, but nothing left the wallet in ${swap.hash}`);
  const gasless = final.filter(({ mode }) => mode === "gasless").length;
  return { found, soldOf, byMode: { gasless, selfExecuted: final.length - gasless } };
}

async function nativeSales(swaps: readonly RecordedSwap[], chain: ChainWitness): Promise<Outflow[]> {
  const sales: Outflow[] = [];
  for (const { hash, sell_token } of swaps) {
    if (sell_token !== NATIVE || hash === null) continue;
    if ((await chain.receipt(hash))?.succeeded !== true) continue;
    sales.push({ hash, token: NATIVE, amount: await chain.value(hash) });
  }
  return sales;
}

/** Each of these tokens is sold by one strategy alone, whatever its databases were. */
function checkBudgets(soldOf: ReadonlyMap<string, bigint>, { strategies, tokenOf }: KillWorld): string[] {
  return strategies.flatMap(({ id, budget }) => {
    if (budget === undefined) return [];
    const sold = soldOf.get(tokenOf[budget.of] ?? "") ?? 0n;
    return sold > budget.amount ? [`${id} sold ${sold}, its budget is ${budget.amount}`] : [];
  });
}

/**
 * No place of a slot is filled by two of the databases that a daemon had; but one that a clock that ran ahead had filled
 * before its time, and that only the database that is gone knew of.
 */
function checkFilledOnce(databases: readonly Recorded[]): string[] {
  const fills = databases.flatMap(({ runs, swaps }) => {
    const runOf = new Map(runs.map((run) => [run.id, run]));
    return swaps
      .filter(({ state }) => state === "confirmed" || state === "final")
      .flatMap(({ run_id, position, hash, block_time_seconds: seconds }) => {
        const { strategy, slot_ms: slotMs = 0 } = runOf.get(run_id) ?? {};
        return (seconds ?? Number.POSITIVE_INFINITY) * 1_000 < slotMs
          ? []
          : [{ place: `${strategy} ${slotMs} ${position}`, hash }];
      });
  });
  return [...Map.groupBy(fills, ({ place }) => place)].flatMap(([place, swaps]) => {
    const hashes = new Set(swaps.map(({ hash }) => hash));
    return hashes.size > 1 ? [`${place} was filled by ${[...hashes].join(" and ")}`] : [];
  });
}

/** One transaction for each nonce from the first one on, none left out, none of somebody else. */
async function checkNonces(
  account: string,
  rows: Pick<Recorded, "nonces" | "attempts">,
  chain: ChainWitness,
): Promise<string[]> {
  const found: string[] = [];
  const [first = 0] = rows.nonces;
  for (const [index, nonce] of rows.nonces.entries()) {
    if (nonce !== first + index) found.push(`${account} has nonce ${nonce} where ${first + index} comes next`);
  }
  const count = await chain.nonceOf(account);
  if (rows.nonces.length > 0 && count !== first + rows.nonces.length) {
    found.push(`the chain counts ${count} transactions of ${account}, the rows ${first + rows.nonces.length}`);
  }
  return [...found, ...(await checkMinedOnce(rows, chain))];
}

/** Of each nonce one transaction was mined. */
async function checkMinedOnce(rows: Pick<Recorded, "nonces" | "attempts">, chain: ChainWitness): Promise<string[]> {
  const found: string[] = [];
  const mined = new Map<number, number>();
  for (const { hash, nonce } of rows.attempts) {
    if ((await chain.receipt(hash)) !== undefined) mined.set(nonce, (mined.get(nonce) ?? 0) + 1);
  }
  for (const nonce of rows.nonces) {
    if (mined.get(nonce) !== 1) found.push(`nonce ${nonce} was mined ${mined.get(nonce) ?? 0} times`);
  }
  return found;
}

export async function checkAllowances(
  grant: { owner: string; spender: string; tokens: readonly string[] },
  chain: ChainWitness,
): Promise<string[]> {
  const found: string[] = [];
  for (const token of grant.tokens) {
    const left = await chain.allowance({ token, owner: grant.owner, spender: grant.spender });
    if (left !== 0n) found.push(`${grant.spender} may still take ${left} of ${token} from ${grant.owner}`);
  }
  return found;
}

/** The settlement contract's events: one for each nonce, and one for each final swap, by its own transaction. */
async function checkSettlements(wallet: string, recorded: Recorded, chain: ChainWitness): Promise<string[]> {
  const found: string[] = [];
  const fills = await chain.fills(wallet);
  const signed = fills.filter(({ nonce }) => nonce !== 0n);
  if (new Set(signed.map(({ nonce }) => nonce)).size !== signed.length)
    found.push(`a nonce of ${wallet} was filled twice`);
  const final = recorded.swaps.filter(({ state }) => state === "final");
  for (const { hash, nonce } of fills) {
    if (recorded.accepted.has(hash)) continue;
    const claims = final.filter((swap) => swap.hash === hash && (nonce === 0n || swap.nonce === String(nonce)));
    if (claims.length !== 1) found.push(`the fill ${hash} with nonce ${nonce} belongs to ${claims.length} swaps`);
  }
  const known = final.length + fills.filter(({ hash }) => recorded.accepted.has(hash)).length;
  if (fills.length !== known) found.push(`${fills.length} fills are on the chain, ${known} in the rows`);
  return found;
}

/** What the service says of the swaps that it accepted, against the chain. */
async function checkRelay(relay: RecordedRelay, wallets: readonly string[], chain: ChainWitness): Promise<string[]> {
  const found: string[] = [];
  for (const wallet of wallets) {
    const nonces = new Set((await chain.fills(wallet)).map(({ nonce }) => String(nonce)));
    for (const swap of relay.swaps.filter((each) => each.wallet === wallet)) {
      const filled = nonces.has(swap.nonce);
      if (swap.status === "pending") found.push(`the service's swap ${swap.id} is still pending`);
      else if ((swap.status === "success") !== filled) {
        found.push(
          `the service calls its swap ${swap.id} ${swap.status}, and the chain has ${filled ? "a" : "no"} fill`,
        );
      }
    }
  }
  return found;
}
