import { ChainReadError } from "../domain/chain-read-error.ts";
import type { BlockHead, LaneChain } from "../ports/chain.ts";
import type { IntentRow, LaneHalt } from "../ports/lane-store.ts";
import type { OpenIntents } from "../ports/lane-unit-of-work.ts";
import { affordableFees, beginIntent, type Means, readMeans } from "./begin-intent.ts";
import { type CancelAnswer, decideCancel } from "./cancel-intent.ts";
import { dropIfOver, dropOutdated, letGo } from "./drop-intent.ts";
import type { Fees } from "./fees.ts";
import { findMined } from "./find-mined.ts";
import { followIntent, type PolledIntent } from "./follow-intent.ts";
import { haltAccount } from "./halt-account.ts";
import { accountOf, type LaneDeps, type LaneOptions, type LaneTurn, readIntent, readToSign } from "./lane-context.ts";
import { type ConfirmedWatch, createConfirmedWatch, POLLS_AT_ONCE } from "./watch-confirmed.ts";

/**
 * One account's transactions on one chain, one in flight at a time:
 * planned -> signed -> broadcast -> mined -> confirmed -> final. Everything is a row before it happens, so a new lane on
 * the same rows goes on where the last one was stopped: start-up and recovery are the same path.
 */
export interface Lane {
  /** Takes everything one step further. Trouble with the chain is waited out; a broken invariant throws. */
  tick(signal?: AbortSignal): Promise<void>;
  /** Records a cancel request for an intent; the lane's own turn carries it out. */
  cancel(id: string, by: string): Promise<CancelAnswer>;
  /** why nothing is signed until a person releases the account; undefined when it is not halted */
  halted(): Promise<LaneHalt | undefined>;
  /**
   * Why it would send nothing now, or follow it to no end: it needs a final block, and blocks with base fees, since it
   * sends transactions of EIP-1559 alone. undefined where it can
   */
  blindness(): Promise<string | undefined>;
  /** Stops all signing until a person releases the account, unless it is halted; the release accepts nothing new. */
  halt(reason: string): Promise<void>;
}

/** Makes the lane of an account. There must be one lane for each account and chain in the world. */
export function createLane(options: LaneOptions, deps: LaneDeps): Lane {
  const { store, clock } = deps;
  const account = accountOf(options);
  const memory = { suspicions: new Map<string, number>(), watch: createConfirmedWatch(), isBegun: false };
  return {
    tick: async (signal) => {
      if (!memory.isBegun) await dropOutdated({ options, deps });
      memory.isBegun = true;
      const trouble = await troubleOf(() => takeTurn(options, deps, { ...memory, signal }));
      if (trouble !== undefined) reportTrouble(options, deps, trouble);
    },
    cancel: async (id, by) => {
      const question = { ...account, intent: { id } };
      return await store.commit({ question, decide: (rows) => decideCancel(rows, { by, atMs: clock.nowMs() }) });
    },
    halted: async () => (await store.read(account)).halt,
    blindness: async () => (await troubleOf(() => deps.chain.finalized()))?.message,
    // No transaction was counted that a release could accept.
    halt: (reason) =>
      haltAccount({ options, deps }, { reason, count: (rows) => rows.acceptedCount, isTrueOf: () => true }),
  };
}

/** What the chain could not be read of. @throws everything else */
async function troubleOf(work: () => Promise<unknown>): Promise<ChainReadError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ChainReadError) return error;
    throw error;
  }
}

function reportTrouble({ account }: LaneOptions, { logger }: LaneDeps, { code, message }: ChainReadError): void {
  logger.warn({ account, code, error: message }, "the lane could not read its chain");
}

/** What a lane remembers from turn to turn; a restart forgets it. */
interface TurnMemory {
  readonly suspicions: Map<string, number>;
  readonly watch: ConfirmedWatch;
}

async function takeTurn(
  options: LaneOptions,
  deps: LaneDeps,
  { suspicions, watch, signal }: TurnMemory & { readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { store, chain } = deps;
  const { intents: open } = await store.open(accountOf(options));
  if (open.length === 0) return;
  const agreement = agreementOf(chain);
  const blocks = { latest: await chain.latest(), finalized: await finalFor(chain, open, agreement) };
  const turn: LaneTurn = { options, deps, ...blocks, agreement, suspicions };
  await followAll(turn, await watch.toPoll(turn, open.filter(hasNonce)), signal);
  if (signal?.aborted === true) return;
  const after = await store.open(accountOf(options));
  const waiting = await stillWaiting(turn, after);
  const inFlight = after.intents.filter(isInFlight);
  if (inFlight.some(({ state }) => state !== "planned")) return;
  const next = await firstToSend(turn, waiting, signal);
  if (next === undefined || !(await letGo(turn, inFlight))) return;
  if (await beginIntent(turn, next.intent, next.fees))
    await followIntent(turn, { rows: await readIntent(turn, next.intent.id), mined: undefined });
}

/** Drops what is over before it got a nonce. @returns what still waits for one */
async function stillWaiting(turn: LaneTurn, { intents, cancelRequests }: OpenIntents): Promise<readonly IntentRow[]> {
  const cancelRequestOf = new Map(cancelRequests.map((cancelRequest) => [cancelRequest.intentId, cancelRequest]));
  const waiting: IntentRow[] = [];
  for (const intent of intents) {
    if (intent.nonce === undefined && !(await dropIfOver(turn, intent, cancelRequestOf.get(intent.id))))
      waiting.push(intent);
  }
  return waiting;
}

/** Asks all endpoints once a turn, however many intents need it. */
function agreementOf(chain: LaneChain): LaneTurn["agreement"] {
  const ask = async (): ReturnType<LaneTurn["agreement"]> => {
    const reads = await chain.agreed();
    return { reads, finalized: await reads.finalized() };
  };
  let asked: ReturnType<typeof ask> | undefined;
  return () => (asked ??= ask());
}

/** Where one endpoint calls a block final that has something of ours in it, it is final once all that answer say so. */
async function finalFor(
  chain: LaneChain,
  open: readonly IntentRow[],
  agreement: LaneTurn["agreement"],
): Promise<BlockHead> {
  const said = await chain.finalized();
  if (!open.some((intent) => isMinedBy(intent, said))) return said;
  const { finalized } = await agreement();
  return finalized.number < said.number ? finalized : said;
}

function isMinedBy({ minedBlockNumber }: IntentRow, { number }: BlockHead): boolean {
  return minedBlockNumber !== undefined && minedBlockNumber <= number;
}

/** What is confirmed and may end now is asked of all endpoints at once. */
async function pollIntent(turn: LaneTurn, { id }: IntentRow): Promise<PolledIntent> {
  const rows = await readIntent(turn, id);
  const { intent, attempts } = rows;
  const mayEnd = intent.state === "confirmed" && isMinedBy(intent, turn.finalized);
  return { rows, mined: await findMined(turn, attempts, mayEnd ? await turn.agreement() : undefined) };
}

/** Takes intents that have a nonce one step further: what is read of them is read together, and acted on in their order. */
async function followAll(
  turn: LaneTurn,
  intents: readonly IntentRow[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { options, deps } = turn;
  for (let start = 0; start < intents.length; start += POLLS_AT_ONCE) {
    const some = intents.slice(start, start + POLLS_AT_ONCE);
    const polls = await Promise.allSettled(some.map((intent) => pollIntent(turn, intent)));
    for (const poll of polls) {
      if (signal?.aborted === true) return;
      const trouble = await troubleOf(async () => followIntent(turn, resultOf(poll)));
      // What nodes say of one transaction, or disagree on, says nothing of the others; where none answers none does.
      if (trouble?.code === "unreachable") throw trouble;
      if (trouble !== undefined) reportTrouble(options, deps, trouble);
    }
  }
}

/** What was read. @throws what was thrown */
function resultOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

/** What may not be signed now, is not worth it, or cannot be paid does not delay what comes after it. */
async function firstToSend(
  turn: LaneTurn,
  waiting: readonly IntentRow[],
  signal: AbortSignal | undefined,
): Promise<{ readonly intent: IntentRow; readonly fees: Fees } | undefined> {
  const { isWorthSending } = turn.options;
  let means: Means | undefined;
  for (const intent of waiting) {
    if (signal?.aborted === true) return undefined;
    if (!(await readToSign(turn, intent.id)).maySign) continue;
    if (isWorthSending !== undefined && !(await isWorthSending(intent))) continue;
    means ??= await readMeans(turn);
    const fees = affordableFees(turn, intent, means);
    if (fees !== undefined) return { intent, fees };
  }
  return undefined;
}

function hasNonce(intent: IntentRow): boolean {
  return intent.nonce !== undefined;
}

function isInFlight(intent: IntentRow): boolean {
  return hasNonce(intent) && intent.state !== "confirmed";
}
