import type { Address, Hex } from "../money/address.ts";
import type { Check } from "./check.ts";
import type { ProposedTransaction } from "./decoded-swap.ts";
import { decodeMultiSend, type SafeCall } from "./multi-send.ts";
import { SAFE_CONTRACTS, type SafeVersion } from "./safe-contracts.ts";
import { proposedCalls } from "./safe-transaction.ts";
import type { TypedData } from "./typed-data.ts";

/** What would be proposed, as the very text says that is hashed. */
export interface ProposalFacts {
  readonly version: SafeVersion | undefined;
  /** what kept the Safe from being recognised */
  readonly problem: string | undefined;
  /** the Safe's next nonce at the newest block */
  readonly nextNonce: bigint;
  /** canonical JSON of the typed data, undefined where nothing was built */
  readonly typedData: string | undefined;
  readonly isAllowed: boolean;
  /** of the swap in its run */
  readonly place: string;
}

/** What it has to say. */
export interface ExpectedProposal {
  readonly chainId: number;
  readonly safe: Address;
  readonly token: Address;
  readonly spender: Address;
  readonly gross: bigint;
  readonly transaction: ProposedTransaction | undefined;
}

/** Fields of a SafeTx that would pay somebody, or let an inner call fail alone, with what they have to be. */
const NOTHING = {
  ...{ value: "0", safeTxGas: "0", baseGas: "0", gasPrice: "0" },
  ...{ gasToken: `0x${"0".repeat(40)}`, refundReceiver: `0x${"0".repeat(40)}` },
} as const;

/**
 * Binds every field of a proposal, read back from the text that is hashed: it runs the pinned MultiSendCallOnly of the
 * Safe's version and no other code, pays nobody for its execution, and makes exactly the calls that the swap needs.
 */
export function proposalChecks(facts: ProposalFacts, expected: ExpectedProposal): Check[] {
  const { version, problem } = facts;
  const known = check("the Safe's version", { value: version ?? problem ?? "unknown", limit: "a known one" });
  if (version === undefined || facts.typedData === undefined) return [{ ...known, ok: false }];
  const { domain, message, primaryType } = JSON.parse(facts.typedData) as TypedData;
  const field = (name: string): string => String(message[name]);
  const exact = (subject: string, value: string, limit: string): Check =>
    check(subject, { value, limit, ok: value === limit });
  const nonce = BigInt(field("nonce"));
  return [
    { ...known, ok: true },
    exact("type that owners sign", primaryType, "SafeTx"),
    exact("chain of the proposal", String(domain.chainId), String(expected.chainId)),
    exact("account of the proposal", String(domain.verifyingContract), expected.safe),
    exact("contract that the Safe runs", field("to"), SAFE_CONTRACTS[version].multiSendCallOnly),
    exact("operation", field("operation"), "1"),
    ...Object.entries(NOTHING).map(([name, limit]) => exact(name, field(name), limit)),
    check("nonce of the proposal", {
      value: nonce.toString(),
      limit: `at least ${facts.nextNonce}`,
      ok: nonce >= facts.nextNonce,
    }),
    callsCheck(field("data") as Hex, facts, expected),
  ];
}

const CALLS = "mark, approval, swap, approval of nothing";

function callsCheck(data: Hex, { isAllowed, place }: ProposalFacts, expected: ExpectedProposal): Check {
  const { transaction, safe, token, spender, gross } = expected;
  const read = decodeMultiSend(data);
  const subject = "calls of the proposal";
  if ("problem" in read || transaction === undefined) {
    const value = "problem" in read ? read.problem : "no transaction";
    return check(subject, { value, limit: CALLS });
  }
  const { to, value, data: calldata } = transaction;
  const wanted = proposedCalls({ safe, place, token, spender, gross, isAllowed, swap: { to, value, data: calldata } });
  const isSame = read.length === wanted.length && read.every((call, index) => isEqual(call, wanted[index]));
  const isItself = read.some((call) => call.to === safe);
  return check(subject, {
    value: isItself ? "a call of the Safe to itself" : isSame ? "as expected" : `${read.length} other calls`,
    limit: CALLS,
    ok: isSame && !isItself,
  });
}

function isEqual(one: SafeCall, other: SafeCall | undefined): boolean {
  return one.to === other?.to && one.value === other.value && one.data === other.data;
}

function check(subject: string, { value, limit, ok }: { value: string; limit: string; ok?: boolean }): Check {
  return { code: "PROPOSAL_MISMATCH", subject, value, limit, ok: ok === true };
}
