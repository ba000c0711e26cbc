import { z } from "zod";
import { type Address, type Hex, isHex, parseAddress } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { readViewWord } from "../at-block/batch-reader.ts";
import { RpcError } from "../json-rpc.ts";
import { overrideSlots, type StorageNode, VIEW_GAS, viewRequest } from "./node-view.ts";
import { type Layout, type StorageSlot, storageKey, USUAL_LAYOUTS } from "./storage-layouts.ts";

/** A token's view of what one word of storage holds: an owner's balance, or an owner's allowance for a spender. */
export interface StoredView {
  readonly token: Address;
  readonly name: "balances" | "allowances";
  /** calldata of the view */
  readonly data: Hex;
  /** what the view is asked of, in the order of its parameters */
  readonly accounts: readonly Address[];
}

/** Finds the words of storage behind tokens' views. */
export interface TokenStorage {
  /**
   * The word that decides what the view answers, proved by a call with another value injected into it, which answered
   * that value; undefined when there is none, as with shares of a whole that grows.
   */
  find(view: StoredView, node: StorageNode): Promise<StorageSlot | undefined>;
  /** What was remembered turned out to be no longer so. */
  forget(view: StoredView): void;
}

/** What is remembered of a token's view: its layout; that only access lists show its slots; that it has none. */
type Finding = Layout | "listed" | "none";

/** A proxy may become another token. */
const WITHOUT_SLOT_FOR_MS = 10 * 60_000;
const MAX_FINDINGS = 20_000;

/** A view of a balance touches a few words; a longer list is an attempt to keep us busy. */
const MAX_LISTED_SLOTS = 16;

/** "swapd" and a number: no real balance, and small enough for a token that keeps flags in a balance's high bits. */
const SENTINEL = 0x7377617064_0000n;

const accessList = z.object({
  accessList: z.array(z.object({ address: z.string(), storageKeys: z.array(z.string()) })),
});

export function createTokenStorage(clock: Pick<Clock, "monotonicMs">): TokenStorage {
  const findings = new Map<string, { readonly finding: Finding; readonly untilMs: number }>();
  const nameOf = ({ token, name }: StoredView): string => `${token} ${name}`;

  function remember(view: StoredView, finding: Finding): void {
    const lasts = finding !== "none";
    const untilMs = lasts ? Number.POSITIVE_INFINITY : clock.monotonicMs() + WITHOUT_SLOT_FOR_MS;
    findings.delete(nameOf(view));
    findings.set(nameOf(view), { finding, untilMs });
    const oldest = findings.size > MAX_FINDINGS ? findings.keys().next().value : undefined;
    if (oldest !== undefined) findings.delete(oldest);
  }

  function recall(view: StoredView): Finding | undefined {
    const known = findings.get(nameOf(view));
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.finding : undefined;
  }

  return {
    async find(view, node) {
      const known = recall(view);
      if (known === "none") return undefined;
      if (known !== undefined && known !== "listed") return usualSlot(view, known);
      const layouts = known === "listed" ? [] : USUAL_LAYOUTS;
      const { layout, listed } = await findLayout(view, node, layouts);
      if (layout !== undefined) {
        remember(view, layout);
        return usualSlot(view, layout);
      }
      const slot = listed === undefined ? undefined : await proveListed(view, node, listed);
      if (slot !== undefined) remember(view, "listed");
      // A list that did not come says nothing of the token.
      else if (listed !== undefined) remember(view, "none");
      return slot;
    },
    forget(view) {
      findings.delete(nameOf(view));
    },
  };
}

function usualSlot({ token, accounts }: StoredView, layout: Layout): StorageSlot {
  return { contract: token, key: storageKey(layout, accounts) };
}

/**
 * One call with a number of its own injected into the slot of each layout: the view's answer names the layout. Slots of
 * mappings are hashes, so those of layouts that the token does not have are no other variables of it either. The same
 * round trip brings the slots that the node sees the view read.
 */
async function findLayout(
  view: StoredView,
  node: StorageNode,
  layouts: readonly Layout[],
): Promise<{ layout: Layout | undefined; listed: readonly StorageSlot[] | undefined }> {
  const call = { to: view.token, data: view.data };
  const reported = layouts.map((layout, index) => ({ slot: usualSlot(view, layout), value: SENTINEL + BigInt(index) }));
  const [answer, list] = await node.ask([
    viewRequest(call, node.block, overrideSlots(reported)),
    { method: "eth_createAccessList", params: [{ ...call, gas: VIEW_GAS }, node.block] },
  ]);
  const index = (readViewWord(node.host, answer) ?? 0n) - SENTINEL;
  const layout = index >= 0n && index < BigInt(layouts.length) ? layouts[Number(index)] : undefined;
  return { layout, listed: readListed(list) };
}

/** The slots of an access list; undefined where the node has no such method, or answers with something else. */
function readListed(answer: unknown): readonly StorageSlot[] | undefined {
  if (answer instanceof RpcError) return undefined;
  const parsed = accessList.safeParse(answer);
  if (!parsed.success) return undefined;
  const slots: StorageSlot[] = [];
  for (const { address, storageKeys } of parsed.data.accessList) {
    const contract = parseAddress(address);
    for (const key of storageKeys) {
      if (slots.length === MAX_LISTED_SLOTS) return slots;
      if (contract !== undefined && isHex(key) && key.length === 66) slots.push({ contract, key });
    }
  }
  return slots;
}

/** Each slot in a call of its own: the others may be what a proxy or a pause hangs on. */
async function proveListed(
  view: StoredView,
  node: StorageNode,
  listed: readonly StorageSlot[],
): Promise<StorageSlot | undefined> {
  const call = { to: view.token, data: view.data };
  const requests = listed.map((slot, index) =>
    viewRequest(call, node.block, overrideSlots([{ slot, value: SENTINEL + BigInt(index) }])),
  );
  const answers = await node.ask(requests);
  return listed.find((_, index) => readViewWord(node.host, answers[index]) === SENTINEL + BigInt(index));
}
