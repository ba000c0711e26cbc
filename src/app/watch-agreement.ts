import { ChainReadError } from "../domain/chain-read-error.ts";
import { type Alert, SUBJECT } from "../domain/run/alert.ts";
import { type AlertDeps, raiseChange, writeAndNotify } from "../engine/alerts.ts";
import type { AgreedChainReads, Chain } from "../ports/chain.ts";

/** What is disagreed on for so long is reported: two endpoints that are a block apart agree again by themselves. */
const PATIENCE_MS = 60_000;
/** A question that is not repeated for so long was settled in another way. */
const FORGOTTEN_AFTER_MS = 600_000;
/** Questions that are kept in mind; each open swap has one. */
const MOST_QUESTIONS = 1_000;

/** One that stands for the same about many blocks: what endpoints say of one of them settles nothing about another. */
const IS_OF_MANY = true;

/** Notes what the endpoints disagree on about a question; undefined: nothing. */
type Note = (question: string, detail: string | undefined, isOfMany?: boolean) => Promise<void>;

/** Asks, and notes whether the endpoints agreed on the question. */
type Noted = <T>(question: string, ask: () => Promise<T>, isOfMany?: boolean) => Promise<T>;

interface Disagreement {
  readonly sinceMs: number;
  readonly askedMs: number;
  readonly detail: string;
}

/**
 * The same chain; whether its endpoints agree is noted. A disagreement that lasts leaves swaps open and their money
 * reserved, for as long as it lasts: people are notified once, and it is over when the endpoints agree on everything
 * again.
 */
export function watchAgreement(chain: Chain, deps: AlertDeps): Chain {
  const open = new Map<string, Disagreement>();
  const bornMs = deps.clock.monotonicMs();
  /** what the rows say; undefined: not known since the start */
  let isReported: boolean | undefined;
  const write = async (detail: string | undefined): Promise<void> => {
    isReported = detail !== undefined;
    const over = { kind: "alerts-over", subject: SUBJECT.agreement() } as const;
    await writeAndNotify(deps, [detail === undefined ? over : raiseChange(deps, alertOf(detail))]);
  };
  const judge = async (hasAgreed: boolean): Promise<void> => {
    const nowMs = deps.clock.monotonicMs();
    for (const [question, { askedMs }] of open) if (nowMs - askedMs >= FORGOTTEN_AFTER_MS) open.delete(question);
    const lasting = [...open.values()].find(({ sinceMs, askedMs }) => askedMs - sinceMs >= PATIENCE_MS);
    if (lasting !== undefined && isReported !== true) await write(lasting.detail);
    if (isReported === false || open.size > 0) return;
    // What an earlier life reported is over with the first agreement, or when no question is left.
    if (isReported === true || hasAgreed || nowMs - bornMs >= FORGOTTEN_AFTER_MS) await write(undefined);
  };
  const note: Note = async (question, detail, isOfMany = false) => {
    const askedMs = deps.clock.monotonicMs();
    if (detail === undefined && !isOfMany) open.delete(question);
    else if (detail !== undefined && (open.has(question) || open.size < MOST_QUESTIONS)) {
      open.set(question, { sinceMs: open.get(question)?.sinceMs ?? askedMs, askedMs, detail });
    }
    await judge(detail === undefined);
  };
  const noted: Noted = async (question, ask, isOfMany = false) => {
    try {
      const answer = await ask();
      await note(question, undefined, isOfMany);
      return answer;
    } catch (error) {
      if (error instanceof ChainReadError && error.code === "disagreement")
        await note(question, error.message, isOfMany);
      throw error;
    }
  };
  return {
    ...chain,
    latest: async (from) => {
      const head = await chain.latest(from);
      await judge(false);
      return head;
    },
    agreed: async () => watched(await chain.agreed(), noted, note),
  };
}

/**
 * A question is the same, whatever the block at which it is asked: the chain goes on while endpoints disagree. Counts of
 * blocks before the finalised one are a question of their own.
 */
function watched(reads: AgreedChainReads, noted: Noted, note: Note): AgreedChainReads {
  let finalized: number | undefined;
  return {
    ...reads,
    finalized: async () => {
      const head = await reads.finalized();
      finalized = head.number;
      // Nothing ends above it: an endpoint whose final block stands still holds all ends back.
      await note("final block", head.heldBack);
      return head;
    },
    transactionCount: (address, block) => {
      const ask = () => reads.transactionCount(address, block);
      const isOld = finalized !== undefined && block < finalized;
      return isOld ? noted(`older counts ${address}`, ask, IS_OF_MANY) : noted(`count ${address}`, ask);
    },
    receipt: (hash) => noted(`receipt ${hash}`, () => reads.receipt(hash)),
    transactionsOf: (address, block) => noted(`sent ${address}`, () => reads.transactionsOf(address, block)),
    call: (request, block) => noted(`call ${request.to} ${request.data}`, () => reads.call(request, block)),
    allowance: (grant, block) =>
      noted(`allowance ${grant.token} ${grant.owner} ${grant.spender}`, () => reads.allowance(grant, block)),
    balance: (token, owner, block) => noted(`balance ${token} ${owner}`, () => reads.balance(token, owner, block)),
    code: (address, block) => noted(`code ${address}`, () => reads.code(address, block)),
    logs: (filter) => noted(`logs ${filter.address} ${filter.topics.join()}`, () => reads.logs(filter)),
  };
}

function alertOf(detail: string): Alert {
  const text = `the RPC endpoints disagree about the chain, so no swap that depends on the answer ends and its money stays reserved: ${detail}; find out which one is wrong, and remove it from the configuration`;
  return { severity: "critical", code: "ENDPOINTS_DISAGREE", subject: SUBJECT.agreement(), text };
}
