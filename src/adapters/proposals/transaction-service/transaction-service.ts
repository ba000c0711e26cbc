import { getAddress } from "ethers";
import { z } from "zod";
import { type Address, parseAddress } from "../../../domain/money/address.ts";
import type { Signer } from "../../../ports/signer.ts";
import type { PublishedProposal, Treasury } from "../../../ports/treasury.ts";
import { delegationOf } from "./delegation.ts";
import { bodyOf, isSameProposal } from "./proposal-body.ts";
import type { Reply, TransactionServiceCalls } from "./service-calls.ts";

/**
 * Proposals through Safe's Transaction Service: the delegate signs what owners are asked for, and they find it in Safe's
 * interface. What the service says of it decides whether it is sent again, and nothing else: whether it was executed is the
 * chain's to say.
 */
export function createTransactionService(
  { safe, proposer }: { readonly safe: Address; readonly proposer: Signer },
  calls: TransactionServiceCalls,
): Treasury {
  const path = `/v2/safes/${getAddress(safe)}/multisig-transactions/`;
  return {
    ...{ safe, proposer, bindsNonce: true },
    freeNonce: async (next) => firstFree(next, await calls.get(path, waitingSince(next)), proposer.address),
    publish: async (proposal) => {
      const posted = await calls.post(path, bodyOf(proposal, proposer.address));
      if (posted.kind === "answer" && posted.status === CREATED) return { kind: "published" };
      // An answer was lost, or it has the proposal from before: both are as good.
      if (mayBeThere(posted) && (await isThere(calls, proposal))) return { kind: "published" };
      return { kind: "undelivered", detail: await whyNot(calls, proposal, { posted, delegate: proposer.address }) };
    },
  };
}

const CREATED = 201;
const TOO_MANY = 429;

/** One that it did not look at was not taken, and nothing more is asked of it now. */
function mayBeThere(posted: Reply): boolean {
  return posted.kind === "none" ? posted.wasAsked : posted.status !== TOO_MANY;
}

async function isThere(calls: TransactionServiceCalls, proposal: PublishedProposal): Promise<boolean> {
  const found = await calls.get(`/v2/multisig-transactions/${proposal.hash}/`);
  return found.kind === "answer" && found.status === 200 && isSameProposal(found.body, proposal);
}

/** More than people leave waiting; what lies behind them is not looked at. */
const MOST_WAITING = 100;

function waitingSince(next: bigint): Readonly<Record<string, string>> {
  return { executed: "false", nonce__gte: next.toString(), ordering: "nonce", limit: String(MOST_WAITING) };
}

const waiting = z.object({
  results: z.array(
    z.object({
      nonce: z.union([z.int().min(0), z.string().regex(/^\d{1,20}$/)]),
      proposedByDelegate: z.string().nullish(),
    }),
  ),
});

/**
 * The first nonce that no transaction of the owners waits for. Proposals of ours count as none: what is past its deadline
 * stays in the queue, and the next one takes its place. A service that is away, or tells stories, costs the nonce at most.
 */
function firstFree(next: bigint, reply: Reply, own: Address): bigint {
  const read = reply.kind === "answer" && reply.status === 200 ? waiting.safeParse(reply.body).data : undefined;
  const others = (read?.results ?? []).filter(({ proposedByDelegate }) => parseAddress(proposedByDelegate) !== own);
  const taken = new Set(others.map(({ nonce }) => BigInt(nonce)));
  let free = next;
  while (taken.has(free)) free += 1n;
  return free;
}

/** A sentence of what is wrong and, where a person has to do something, what that is. */
async function whyNot(
  calls: TransactionServiceCalls,
  { safe }: PublishedProposal,
  { posted, delegate }: { readonly posted: Reply; readonly delegate: Address },
): Promise<string> {
  const { host } = calls;
  if (posted.kind === "none") return posted.detail;
  const { status, words } = posted;
  const said = `${host} answered ${status}${words === "" ? "" : ` (${words})`}`;
  if (status === 401 || status === 403)
    return `${said}: it wants an API key, or another one: name it as proposals.service.apiKey`;
  if (status === 404) return `${said}: is proposals.service.url the address for this network?`;
  if (status !== 400 && status !== 422) return said;
  const delegation = await delegationOf(calls, { safe, delegate });
  return delegation.kind === "listed" && delegation.delegators.length === 0
    ? `${said}: ${unlisted(safe, delegate)}`
    : said;
}

/** What an owner has to do so that a delegate may propose. */
export function unlisted(safe: Address, delegate: Address): string {
  return `the delegate ${getAddress(delegate)} may not propose to the Safe ${getAddress(safe)}: an owner adds it as a proposer in Safe's settings`;
}
