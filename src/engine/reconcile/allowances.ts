import { ChainReadError } from "../../domain/chain-read-error.ts";
import { spendersIn } from "../../domain/guard/swap-contracts.ts";
import type { Address } from "../../domain/money/address.ts";
import type { AgreedChainReads } from "../../ports/chain.ts";
import type { Answered } from "../../ports/questions.ts";
import type { FinalBlock, Finding } from "../../ports/reconciliation-store.ts";
import { exactAmount } from "./exact-amount.ts";
import type { ScanContext } from "./patient-chain.ts";
import { tokensOf } from "./read-back.ts";

/** What the endpoints say together of allowances that no row granted. */
export interface AllowancesSeen {
  readonly findings: readonly Finding[];
  /** tokens of which one was found, and of which a final block shows none */
  readonly withoutAllowance: ReadonlySet<Address>;
  /** nodes that are behind the rows prove nothing: the next check asks again */
  readonly isUndecided: boolean;
}

interface Asked {
  readonly wallet: Address;
  readonly token: Address;
  readonly spender: Address;
  /** the last block of which the logs were read */
  readonly toBlock: number;
  /** an amount of the token, for people */
  inWords(raw: bigint): string;
}

/** An amount, or why the endpoints do not show it. */
type Said = bigint | ChainReadError;

/**
 * Searches for allowances to the settlement that no row granted. One node alone proves nothing, and what a fork may
 * take back cannot be accepted: the endpoints have to agree at the newest block and at the final one.
 * @throws ChainReadError when no endpoint answers
 */
export async function scanAllowances(
  context: ScanContext,
  agreed: AgreedChainReads,
  { wallet, toBlock }: Pick<Asked, "wallet" | "toBlock">,
): Promise<AllowancesSeen> {
  const spenders = spendersIn(context.settings);
  const seen = await Promise.all(
    tokensOf(context).flatMap(({ address: token }) => {
      const inWords = (raw: bigint): string => exactAmount(context, token, raw);
      return spenders.map(async (spender) => {
        return { token, what: await scanWallet(context, agreed, { wallet, token, spender, toBlock, inWords }) };
      });
    }),
  );
  const findings = seen.flatMap(({ what }) => (typeof what === "object" ? [what] : []));
  // What was found to one spender may be gone while another has one.
  const open = new Set(seen.filter(({ what }) => what !== "none" && what !== undefined).map(({ token }) => token));
  const gone = seen.filter(({ token, what }) => what === "none" && !open.has(token));
  const withoutAllowance = new Set(gone.map(({ token }) => token));
  const isUndecided = seen.some(({ what }) => what === "undecided");
  return { findings, withoutAllowance, isUndecided };
}

async function scanWallet(
  context: ScanContext,
  agreed: AgreedChainReads,
  asked: Asked,
): Promise<Finding | "none" | "undecided" | undefined> {
  const { store } = context.deps;
  const { wallet, token, spender, toBlock } = asked;
  const read = (block?: number): Promise<Said> =>
    agreed.allowance({ token, owner: wallet, spender }, block).catch(unsaid);
  const rows = (final?: FinalBlock): Promise<Answered<"allowance">> =>
    store.read({ kind: "allowance", wallet, token, spender, final });
  const { isFound, isGranted } = await rows();
  if (isGranted && !isFound) return undefined;
  const first = await read();
  if (first === 0n && !isFound) return undefined;
  if (first instanceof ChainReadError && first.isRefusal) return unproved(asked, refused(first));
  // A block that is named: a node that lags has no answer to it, instead of an old one.
  const newest = await read(agreed.latest.number);
  const { number, timestamp } = await agreed.finalized();
  const final = { number: Math.min(number, toBlock), timestamp };
  const atFinal = await read(final.number);
  // The rows are asked after the chain: they may know more by then, never less.
  const { isGranted: isGrantedByNow, isOpen } = await rows(final);
  if (newest === 0n) return isFound && atFinal === 0n && isOpen === false ? "none" : undefined;
  if (isGrantedByNow) return undefined;
  if (isOpen) return "undecided";
  if (newest instanceof ChainReadError) return unproved(asked, refused(newest));
  const blocks = { latest: agreed.latest.number, final: final.number };
  return judgeUnexplained(asked, { newest, atFinal, blocks });
}

/** An allowance that no row explains: certain once it stands at the final block, too. */
function judgeUnexplained(
  asked: Asked,
  said: {
    readonly newest: bigint;
    readonly atFinal: Said;
    readonly blocks: { readonly latest: number; readonly final: number };
  },
): Finding {
  const { newest, atFinal, blocks } = said;
  if (atFinal === 0n) return unproved(asked, `it is ${asked.inWords(newest)} in block ${blocks.latest}, not final yet`);
  if (!(atFinal instanceof ChainReadError)) return ungranted(asked, { amount: newest, block: blocks.final });
  if (!atFinal.isRefusal) return unproved(asked, refused(atFinal));
  // Nodes that keep no state of so old a block will not show either that it is gone for good: its row stays until they do.
  return ungranted(asked, { amount: newest, block: blocks.latest });
}

/** @throws what else kept the endpoints from an answer: they may give one later */
function unsaid(error: unknown): ChainReadError {
  if (error instanceof ChainReadError && (error.isRefusal || error.code === "disagreement")) return error;
  throw error;
}

function refused({ message, isRefusal }: ChainReadError): string {
  return isRefusal ? `its allowance is refused (${message})` : message;
}

function ungranted(
  { wallet, token, spender, inWords }: Asked,
  { amount, block }: { readonly amount: bigint; readonly block: number },
): Finding {
  const text = `${wallet} allows ${spender} to take ${inWords(amount)}, and no row granted that; accepted, it is taken back`;
  const facts = { token, spender, amount: amount.toString(), block: block.toString() };
  const what = { wallet, token, kind: "allowance", scope: "token" } as const;
  return { key: `allowance ${wallet} ${token} ${spender} ${amount}`, ...what, text, facts };
}

/** One token that does not answer stops no other trading: it could only hide an allowance of its own. */
function unproved({ wallet, token, spender }: Asked, why: string): Finding {
  const text = `cannot prove that ${wallet} allows ${spender} to take no ${token}: ${why}`;
  const what = { wallet, token, kind: "cannot-prove", scope: "token" } as const;
  return { key: `cannot-prove allowance ${wallet} ${token} ${spender}`, ...what, text, facts: { token, spender } };
}
