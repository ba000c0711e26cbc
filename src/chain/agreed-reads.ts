import { ChainReadError } from "../domain/chain-read-error.ts";
import { larger } from "../domain/money/bigint.ts";
import type { AgreedChainReads, BlockHead } from "../ports/chain.ts";
import { type ChainReads, type ReadOptions, readsOver } from "./chain-reads.ts";
import { poolOf, type RpcPool } from "./rpc-pool.ts";

/** An endpoint whose newest block is older than that of another by more than this does not count. */
const MOST_LAG_SECONDS = 120;
/** No node makes a block of so far ahead; by one that shows one, and a lag less than the above, others would seem late. */
const MOST_AHEAD_SECONDS = 30;

interface Member {
  readonly host: string;
  readonly reads: ChainReads;
}

/**
 * Reads the chain through every endpoint. Those that answer must agree; one that does not answer, or is far behind, is
 * left out.
 * @throws ChainReadError when no endpoint answers
 */
export async function agreedReads(pool: RpcPool, options: ReadOptions, nowSeconds: number): Promise<AgreedChainReads> {
  const all = pool.endpoints.map((endpoint) => ({
    host: endpoint.host,
    reads: readsOver(poolOf([endpoint]), options),
  }));
  // Each check of the chain is for a minute: a provider may have failed over to another network since.
  for (const endpoint of pool.endpoints) endpoint.doubtChain();
  const tips = await answersOf(all, ({ latest }) => latest());
  // A head from the future must not make all others look late.
  const times = tips.map(({ answer }) => answer.timestamp);
  const believable = times.filter((time) => time <= nowSeconds + MOST_AHEAD_SECONDS);
  const newest = Math.max(...(believable.length > 0 ? believable : times));
  const present = tips.filter(({ answer }) => newest - answer.timestamp <= MOST_LAG_SECONDS);
  const members = present.map(({ member }) => member);
  const latest = lowest(present.map(({ answer }) => answer));
  const unlisted = new Set(all.filter((member) => !members.includes(member)).map(({ host }) => host));
  const on = <T>(
    what: string,
    ask: (reads: ChainReads, host: string) => Promise<T>,
    keyOf: (answer: T) => string = textOf,
    sizeOf: (answer: T) => number = () => 0,
  ) => agree(members, { what, keyOf, sizeOf }, ask);
  return {
    latest,
    finalized: async () => {
      const heads = await answersOf(members, ({ finalized }) => finalized());
      const detail = heldBack(heads);
      return { ...lowest(heads.map(({ answer }) => answer)), ...(detail === undefined ? {} : { heldBack: detail }) };
    },
    transactionCount: (address, block) => on("a transaction count", (reads) => reads.transactionCount(address, block)),
    receipt: (hash) =>
      on(
        "a receipt",
        (reads) => reads.receipt(hash),
        (receipt) => (receipt === undefined ? "none" : `${receipt.blockHash} ${receipt.succeeded}`),
        // One may leave logs out.
        (receipt) => receipt?.logs.length ?? 0,
      ),
    transactionsOf: (address, block) =>
      on(
        "a block's transactions",
        async (reads) => {
          const found = await reads.transactionsOf(address, block);
          if (found === undefined) throw new ChainReadError("refused", `a node has no transactions of block ${block}`);
          return found;
        },
        // One may show no signatures.
        (found) => textOf(found.map(({ raw: _, ...listed }) => listed)),
        (found) => found.filter(({ raw }) => raw !== undefined).length,
      ),
    call: (request, block) => on("a call", (reads) => reads.call(request, block)),
    allowance: (grant, block) => on("an allowance", (reads) => reads.allowance(grant, block)),
    highestAllowance: async (grant, block) => {
      const answers = await answersOf(members, ({ allowance }) => allowance(grant, block));
      return answers.map(({ answer }) => answer).reduce(larger, 0n);
    },
    balance: (token, owner, block) => on("a balance", (reads) => reads.balance(token, owner, block)),
    code: (address, block) => on("an account's code", (reads) => reads.code(address, block)),
    logs: (filter) =>
      on("logs", async (reads, host) => {
        try {
          return await reads.logs(filter);
        } catch (error) {
          unlisted.add(host);
          throw error;
        }
      }),
    unlistedBy: () => [...unlisted],
  };
}

/** Of answers that say the same, the first of the largest. */
async function agree<T>(
  members: readonly Member[],
  { what, keyOf, sizeOf }: { what: string; keyOf(answer: T): string; sizeOf(answer: T): number },
  ask: (reads: ChainReads, host: string) => Promise<T>,
): Promise<T> {
  const [first, ...others] = await answersOf(members, ask);
  if (first === undefined) throw new Error("answersOf gives at least one answer");
  const { answer } = others.reduce((most, one) => (sizeOf(one.answer) > sizeOf(most.answer) ? one : most), first);
  const other = others.find(({ answer }) => keyOf(answer) !== keyOf(first.answer));
  if (other === undefined) return answer;
  const [one, two] = [shown(keyOf(first.answer)), shown(keyOf(other.answer))];
  const message = `the RPC endpoints disagree on ${what}: ${first.member.host} says ${one}, ${other.member.host} ${two}`;
  throw new ChainReadError("disagreement", message);
}

/** At least one answer. @throws ChainReadError when there is none */
async function answersOf<T>(
  members: readonly Member[],
  ask: (reads: ChainReads, host: string) => Promise<T>,
): Promise<readonly { member: Member; answer: T }[]> {
  const failures: ChainReadError[] = [];
  const asked = members.map(async (member) => {
    try {
      return [{ member, answer: await ask(member.reads, member.host) }];
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
      failures.push(error);
      return [];
    }
  });
  const answers = (await Promise.all(asked)).flat();
  const [failure] = failures;
  if (answers.length > 0) return answers;
  const reasons = failures.map(({ message }) => message).join("; ");
  const code = failures.every(({ code: other }) => other === failure?.code) ? failure?.code : "unreachable";
  throw new ChainReadError(code ?? "unreachable", reasons);
}

/**
 * Finality comes in steps of minutes. Where an endpoint's final block is older than another's by more than this, it stands
 * still, or the other one calls final what is not.
 */
const MOST_FINALITY_LAG_SECONDS = 3_600;

/** Which endpoint holds the common final block back for long, and by how much; undefined where none does. */
function heldBack(heads: readonly { readonly member: Member; readonly answer: BlockHead }[]): string | undefined {
  const byAge = heads.toSorted((a, b) => a.answer.timestamp - b.answer.timestamp);
  const [oldest, newest] = [byAge[0], byAge.at(-1)];
  if (oldest === undefined || newest === undefined) return undefined;
  const seconds = newest.answer.timestamp - oldest.answer.timestamp;
  if (seconds <= MOST_FINALITY_LAG_SECONDS) return undefined;
  const minutes = Math.floor(seconds / 60);
  return `the newest block that ${oldest.member.host} calls final is ${oldest.answer.number}, ${minutes} minutes older than block ${newest.answer.number} of ${newest.member.host}`;
}

function lowest(heads: readonly BlockHead[]): BlockHead {
  return heads.reduce((low, head) => (head.number < low.number ? head : low));
}

function textOf(answer: unknown): string {
  return JSON.stringify(answer, (_key, value) => (typeof value === "bigint" ? String(value) : value)) ?? "nothing";
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
