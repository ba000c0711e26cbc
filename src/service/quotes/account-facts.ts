import { addressWord, callData } from "../../chain/at-block/words.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { MAX_UINT256 } from "../../domain/money/amount.ts";
import { type AccountFacts, USUAL_FACTS } from "../gas/swap-gas.ts";
import { SELECTOR } from "../pools/selectors.ts";
import type { Snapshot } from "../pools/snapshots.ts";
import type { QuoteRequest } from "./quote.ts";

/** Who takes part in a swap besides its owner and recipient. */
interface Others {
  /** none: nothing can be swapped, and all quotes are indicative; which of several takes the tokens is not known yet */
  readonly spenders: readonly Address[];
  /** sends gasless swaps, if anybody does */
  readonly relayer: Address | undefined;
}

/**
 * Reads what of a firm quote's gas depends on the accounts. For a wallet that asked before, the block has read them
 * already. A token that does not answer is taken for a usual one.
 */
export async function readAccountFacts(
  request: QuoteRequest,
  { spenders, relayer }: Others,
  snapshot: Snapshot,
): Promise<AccountFacts> {
  const { from, to, owner, affiliate } = request;
  if (owner === undefined || spenders.length === 0) {
    // An owner without gas money has approved nothing: a permit is signed.
    return request.gasless ? { ...USUAL_FACTS, allowance: "zero" } : USUAL_FACTS;
  }
  const recipient = request.recipient ?? owner;
  const isSender = (account: Address) => account === owner && !request.gasless;
  const isNew = async (account: Address | undefined, asset: Address) => {
    if (account === undefined) return false;
    if (asset === NATIVE_TOKEN) return !isSender(account) && !(await snapshot.exists(account));
    return (await balance(asset, account)) === 0n;
  };
  const one = async (token: Address, data: ReturnType<typeof callData>) =>
    (await snapshot.readKept(token, data, 1))?.[0];
  const balance = (token: Address, account: Address) => one(token, callData(SELECTOR.balanceOf, addressWord(account)));
  const ofOwner = from === NATIVE_TOKEN ? undefined : from;
  const allowed = async (spender: Address) => {
    const amount =
      ofOwner && (await one(ofOwner, callData(SELECTOR.allowance, addressWord(owner), addressWord(spender))));
    return [spender, allowanceOf(amount, request.amount)] as const;
  };
  const [held, allowances, nonce, recipientIsNew, affiliateIsNew, relayerIsNew] = await Promise.all([
    ofOwner && balance(ofOwner, owner),
    Promise.all(spenders.map(allowed)),
    ofOwner && request.gasless ? one(ofOwner, callData(SELECTOR.nonces, addressWord(owner))) : undefined,
    isNew(recipient, to),
    isNew(affiliate?.address, from),
    isNew(request.gasless ? relayer : undefined, from),
  ]);
  return {
    ownerEmpties: held === request.amount,
    allowance: allowances[0]?.[1] ?? "exact",
    allowances: new Map(allowances),
    recipientIsNew,
    affiliateIsNew,
    relayerIsNew,
    permitIsFirst: nonce === 0n,
  };
}

function allowanceOf(allowed: bigint | undefined, amount: bigint): AccountFacts["allowance"] {
  if (allowed === 0n) return "zero";
  if (allowed === MAX_UINT256) return "unlimited";
  return allowed !== undefined && allowed > amount ? "more" : "exact";
}
