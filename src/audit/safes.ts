import { z } from "zod";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../domain/money/address.ts";
import { parseOrUndefined } from "./bodies.ts";
import type { ChainReader } from "./chain-reader.ts";
import { EXECUTED, EXECUTED_BY_MODULE } from "./events.ts";
import type { Receipt } from "./node-answers.ts";
import { type Difference, difference } from "./report.ts";
import { isFilled, type SignatureRow, type SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

const proposed = z.object({
  domain: z.object({ verifyingContract: z.string() }),
  primaryType: z.literal("SafeTx"),
  message: z.object({ operation: z.coerce.string(), data: z.string() }).catchall(z.coerce.string()),
});
type Proposed = z.output<typeof proposed>;

/** What owners of a Safe were asked for, by swap; the rows hold it as what was to be signed. */
export function proposalsIn({ signatures }: Pick<Snapshot, "signatures">): ReadonlyMap<string, SignatureRow> {
  return new Map(signatures.flatMap((row) => (proposalOf(row) === undefined ? [] : [[row.swap_id, row] as const])));
}

/** What a row asked owners for; undefined where it is anything else. */
export function proposalOf({ typed_data }: SignatureRow): Proposed | undefined {
  return proposed.safeParse(parseOrUndefined(typed_data)).data;
}

/**
 * Wallets that are Safes: those of the configuration, and those that something was proposed to. A row alone makes none of
 * a key's account, which is no contract: what left that has to be explained.
 */
export async function safesIn(
  chain: Pick<ChainReader, "areContracts">,
  snapshot: Snapshot,
  { configured = [], tip }: { readonly configured: readonly Address[] | undefined; readonly tip: number },
): Promise<ReadonlySet<Address>> {
  const proposedTo = snapshot.signatures.flatMap(
    (row) => parseAddress(proposalOf(row)?.domain.verifyingContract) ?? [],
  );
  const asked = [...new Set(proposedTo)];
  const areContracts = await chain.areContracts(asked, tip);
  return new Set([...configured, ...asked.filter((_, index) => areContracts[index])]);
}

/** A refund, or a call that may fail alone, would be none of the swap's. */
const NOTHING = {
  ...{ value: "0", safeTxGas: "0", baseGas: "0", gasPrice: "0" },
  ...{ gasToken: NATIVE_TOKEN, refundReceiver: NATIVE_TOKEN },
} as const;

/** The approval in a proposal's calls, whoever is allowed. */
const APPROVE = /095ea7b3[0-9a-f]{64}([0-9a-f]{64})/g;

/** Every proposal asks for its swap and for nothing else, and the fill of each was executed by the Safe, for its owners or by a module. */
export function checkProposals(snapshot: Snapshot, receipts: ReadonlyMap<Hex, Receipt>): Difference[] {
  const found: Difference[] = [];
  for (const row of proposalsIn(snapshot).values()) {
    const swap = snapshot.swaps.get(row.swap_id);
    const asked = proposalOf(row);
    if (swap === undefined || asked === undefined) continue;
    found.push(...checkAsked(swap, row, asked), ...checkExecuted(swap, row, receipts));
  }
  return found;
}

function checkAsked(swap: SwapRow, { digest }: SignatureRow, { domain, message }: Proposed): Difference[] {
  const fields: [name: string, expected: string, stated: string | undefined][] = [
    ["account", swap.wallet, parseAddress(domain.verifyingContract)],
    ["operation", "1", message.operation],
    ...Object.entries(NOTHING).map(([name, expected]) => [name, expected, message[name]] as (typeof fields)[number]),
  ];
  const allowed = [...message.data.toLowerCase().matchAll(APPROVE)].map(([, amount]) => BigInt(`0x${amount}`));
  const most = allowed.reduce((one, other) => (one > other ? one : other), 0n);
  fields.push(["most that is allowed", String(swap.amount_in), String(most)]);
  fields.push(["what is allowed at the end", "0", String(allowed.at(-1))]);
  return fields
    .filter(([, expected, stated]) => expected !== stated)
    .map(([field, expected, stated]) => {
      const message = `The proposal ${digest} says ${field} ${stated ?? "nothing"}; swap ${swap.id} needs ${expected}.`;
      return difference("SIGNED_SWAP_DIFFERS", `digest ${digest}`, message, { field, expected, stated, swap: swap.id });
    });
}

/** What one execution of a Safe wrote, and the hash of what its owners signed; a module has none. */
interface Executed {
  readonly receipt: Receipt;
  readonly hash: Hex | undefined;
}

/** A transaction by the executions of a Safe in it: owners may execute all that waits in their queue at once. */
export function executionsOf(receipt: Receipt, safe: Address): readonly Executed[] {
  const found: Executed[] = [];
  let rest = receipt.logs;
  for (let end = rest.findIndex(isOf(safe)); end >= 0; end = rest.findIndex(isOf(safe))) {
    const [log] = rest.slice(end);
    const hash = log?.topics[0] === EXECUTED ? (log.topics[1] ?? (log.data.slice(0, 66) as Hex)) : undefined;
    found.push({ receipt: { ...receipt, logs: rest.slice(0, end + 1) }, hash });
    rest = rest.slice(end + 1);
  }
  return found;
}

function isOf(safe: Address): (log: Receipt["logs"][number]) => boolean {
  return ({ address, topics: [kind] }) => address === safe && (kind === EXECUTED || kind === EXECUTED_BY_MODULE);
}

function checkExecuted(swap: SwapRow, { digest }: SignatureRow, receipts: ReadonlyMap<Hex, Receipt>): Difference[] {
  const receipt = swap.hash === null ? undefined : receipts.get(swap.hash);
  if (!isFilled(swap) || receipt === undefined) return [];
  if (receipt.logs.some(isOf(swap.wallet))) return [];
  const message = `Swap ${swap.id} was proposed as ${digest}, and the Safe ${swap.wallet} executed nothing in ${swap.hash}.`;
  return [difference("MODE_DIFFERS", `swap ${swap.id}`, message, { mode: swap.mode, hash: swap.hash })];
}
