import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import type { AssumedHoldings } from "../../ports/chain.ts";
import { encodeTokenCall } from "../abi.ts";
import { readViewWord } from "../at-block/batch-reader.ts";
import { parseQuantity } from "../at-block/head.ts";
import type { Endpoint } from "../endpoint.ts";
import { RpcError } from "../json-rpc.ts";
import { toQuantity } from "../quantity.ts";
import { type RpcPool, reasonOf, saidBy } from "../rpc-pool.ts";
import { overrideSlots, type StorageNode, viewRequest } from "../storage/node-view.ts";
import type { StoredView, TokenStorage } from "../storage/token-storage.ts";
import type { LentState } from "./method.ts";

/** The state that simulations are lent so that an account holds what is assumed, or why nobody can lend it. */
export type Lending =
  | { readonly kind: "lent"; readonly lent: LentState }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * Finds the words of storage behind what is assumed, and proves at the same block that tokens answer it when these words
 * are overridden. What the chain says already is left as it is.
 * @throws ChainReadError when no endpoint answers for the moment
 */
export async function lendHoldings(
  { pool, storage }: { readonly pool: Pick<RpcPool, "converse">; readonly storage: TokenStorage },
  assumed: AssumedHoldings,
  block: Hex,
): Promise<Lending> {
  const result = await pool.converse((endpoint) => lendAt(nodeOf(endpoint, block), assumed, storage));
  if (result.kind === "enough") return result.answer;
  const reason = `no RPC endpoint shows it with other balances: ${saidBy(result.failures)}`;
  const code = reasonOf(result.failures);
  if (code !== "not available" && code !== "refused") throw new ChainReadError(code, reason);
  return { kind: "unavailable", reason };
}

/** Errors of single requests stand in their places, as in a batch. */
function nodeOf({ host, ask }: Endpoint, block: Hex): StorageNode {
  const asked = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    try {
      return await ask(method, params);
    } catch (error) {
      if (error instanceof RpcError && error.kind === "rpc") return error;
      throw error;
    }
  };
  return { host, block, ask: (requests) => Promise.all(requests.map(({ method, params }) => asked(method, params))) };
}

/** A view with what it is to answer. */
interface Wanted {
  readonly view: StoredView;
  readonly amount: bigint;
}

async function lendAt(node: StorageNode, assumed: AssumedHoldings, storage: TokenStorage): Promise<Lending> {
  const { owner, native } = assumed;
  const wanted = wantedOf(assumed);
  const before = await answersOf(node, wanted, undefined);
  const lacking = wanted.flatMap((one, index) => {
    const has = before[index];
    return has === one.amount ? [] : [{ ...one, has: has ?? 0n }];
  });
  const words: { slot: { contract: Address; key: Hex }; value: bigint }[] = [];
  for (const { view, amount, has } of lacking) {
    const slot = await storage.find(view, node);
    if (slot === undefined) return unprovable(view);
    const [answer] = await node.ask([{ method: "eth_getStorageAt", params: [slot.contract, slot.key, node.block] }]);
    const word = parseQuantity(node.host, answer);
    // Some tokens keep flags next to an amount: all of the word but the amount stays.
    words.push({ slot, value: word >= has ? word - has + amount : amount });
  }
  const overrides = overrideSlots(words);
  const after = await answersOf(node, lacking, overrides);
  const disproved = lacking.find(({ amount }, index) => after[index] !== amount);
  if (disproved !== undefined) {
    storage.forget(disproved.view);
    return unprovable(disproved.view);
  }
  return { kind: "lent", lent: { ...overrides, [owner]: { ...overrides[owner], balance: toQuantity(native) } } };
}

function wantedOf({ owner, balances, allowances }: AssumedHoldings): readonly Wanted[] {
  return [
    ...balances.map(({ token, amount }) => {
      const data = encodeTokenCall("balanceOf", [owner]);
      return { view: { token, name: "balances", data, accounts: [owner] } as const, amount };
    }),
    ...allowances.map(({ token, spender, amount }) => {
      const data = encodeTokenCall("allowance", [owner, spender]);
      return { view: { token, name: "allowances", data, accounts: [owner, spender] } as const, amount };
    }),
  ];
}

async function answersOf(
  node: StorageNode,
  wanted: readonly Wanted[],
  overrides: ReturnType<typeof overrideSlots> | undefined,
): Promise<readonly (bigint | undefined)[]> {
  if (wanted.length === 0) return [];
  const requests = wanted.map(({ view }) => viewRequest({ to: view.token, data: view.data }, node.block, overrides));
  return (await node.ask(requests)).map((answer) => readViewWord(node.host, answer));
}

function unprovable({ token, name }: StoredView): Lending {
  return { kind: "unavailable", reason: `no word of storage could be proved to hold the ${name} of ${token}` };
}
