import { TypedDataEncoder, verifyTypedData } from "ethers";
import { z } from "zod";
import { type Address, parseAddress } from "../domain/money/address.ts";
import { type Difference, difference } from "./report.ts";
import { isOpen, type SignatureRow, type SwapRow } from "./rows.ts";
import { proposalOf } from "./safes.ts";
import type { Snapshot } from "./snapshot.ts";

const typedData = z.object({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  message: z.record(z.string(), z.unknown()),
});
type TypedData = z.output<typeof typedData>;

interface Signed {
  readonly row: SignatureRow;
  readonly data: TypedData;
}

/** Hashes every stored message anew, recovers its signer, and checks its fields against the swap it was signed for. */
export function checkSignatures(snapshot: Snapshot, chainId: number): Difference[] {
  const found: Difference[] = [];
  const readable: Signed[] = [];
  for (const row of snapshot.signatures) {
    const data = parse(row);
    if ("code" in data) found.push(data);
    else readable.push({ row, data });
  }
  // What was about to be signed and never was may belong to an older quote of the same swap.
  const complete = readable.filter(({ row }) => row.signature !== null);
  const bySwap = Map.groupBy(complete, ({ row }) => row.swap_id);
  for (const signed of complete) {
    const swap = snapshot.swaps.get(signed.row.swap_id);
    if (swap === undefined) continue;
    // A proposal is signed by whoever may propose, and looked at with the others.
    if (proposalOf(signed.row) !== undefined) continue;
    found.push(...checkSigner(signed, swap.wallet));
    const fields =
      signed.row.kind === "swap"
        ? swapFields(signed, swap, chainId)
        : permitFields(signed, swap, { chainId, siblings: bySwap.get(swap.id) ?? [], snapshot });
    found.push(...compareFields(signed, fields));
  }
  return [...found, ...checkRights(snapshot)];
}

/** The contracts that gasless swaps were signed for, by swap id. */
export function signedFor(snapshot: Snapshot): ReadonlyMap<string, Address> {
  const routers = new Map<string, Address>();
  for (const row of snapshot.signatures) {
    if (row.kind !== "swap" || row.signature === null) continue;
    const data = parse(row);
    const router = "code" in data ? undefined : parseAddress(data.domain.verifyingContract);
    if (router !== undefined) routers.set(row.swap_id, router);
  }
  return routers;
}

function parse(row: SignatureRow): TypedData | Difference {
  const unreadable = (why: string): Difference =>
    difference("TYPED_DATA_UNREADABLE", `digest ${row.digest}`, `The typed data of ${row.digest} ${why}.`, {
      swap: row.swap_id,
    });
  try {
    const parsed = typedData.safeParse(JSON.parse(row.typed_data));
    if (!parsed.success) return unreadable("does not have the shape of EIP-712");
    const { domain, types, primaryType, message } = parsed.data;
    if (TypedDataEncoder.getPrimaryType(types) !== primaryType) return unreadable("names another primary type");
    const digest = TypedDataEncoder.hash(domain, types, message);
    if (digest === row.digest) return parsed.data;
    return difference(
      "DIGEST_DIFFERS",
      `digest ${row.digest}`,
      `The typed data stored for ${row.digest} hashes to ${digest}.`,
      { recorded: row.digest, computed: digest, swap: row.swap_id },
    );
  } catch (error) {
    return unreadable(`cannot be hashed (${error instanceof Error ? error.message : String(error)})`);
  }
}

function checkSigner({ row, data }: Signed, wallet: Address): Difference[] {
  const signer = signerOf(row, data);
  if (signer === wallet) return [];
  const message = `The signature of ${row.digest} is by ${signer}, not by the wallet ${wallet}.`;
  return [difference("SIGNER_DIFFERS", `digest ${row.digest}`, message, { wallet, signer, swap: row.swap_id })];
}

function signerOf(row: SignatureRow, data: TypedData): string {
  try {
    return verifyTypedData(data.domain, data.types, data.message, row.signature ?? "0x").toLowerCase();
  } catch {
    // Bytes that are no signature were made by nobody, and the caller reports that.
    return "nobody (malformed)";
  }
}

type Field = [name: string, expected: string | undefined, stated: string | undefined];

/** The messages of the service interface name their router, which is their verifying contract and their spender. */
function isOfInterface({ message }: TypedData): boolean {
  return Object.hasOwn(message, "router");
}

/**
 * Names of the fields are those of the service interface, in every generation of its messages. Other services name theirs
 * as they like: of an order of theirs every value that the swap stands for has to be among what was signed.
 */
function swapFields({ row, data }: Signed, swap: SwapRow, chainId: number): Field[] {
  const { message, domain } = data;
  if (!isOfInterface(data)) return [["chainId", String(chainId), textOf(domain.chainId)], ...valuesOf(message, swap)];
  const stated = (name: string) => textOf(message[name]);
  const gross = sumOf(message, ["amountIn", "swapFee", "affiliateFee"]);
  const minimum = numberOf(message.amountOutMin);
  const isEnough = minimum !== undefined && swap.amount_out_min !== null && minimum >= swap.amount_out_min;
  return [
    ["chainId", String(chainId), textOf(domain.chainId)],
    ["router", textOf(domain.verifyingContract), stated("router")],
    ["recipient", swap.recipient, stated("recipient")],
    ["fromAsset", swap.sell_token, stated("fromAsset")],
    ["toAsset", swap.buy_token, stated("toAsset")],
    ["gross amount", textOf(swap.amount_in), textOf(gross)],
    ["deadline", String(row.valid_until_seconds), stated("deadline")],
    ["amountOutMin", isEnough ? stated("amountOutMin") : textOf(swap.amount_out_min), stated("amountOutMin")],
    ...(swap.nonce === null ? [] : [["nonce", textOf(swap.nonce), stated("nonce")] satisfies Field]),
  ];
}

function valuesOf(message: TypedData["message"], swap: SwapRow): Field[] {
  const signed = new Set(leavesOf(message));
  const among = (name: string, value: unknown): Field => {
    const expected = textOf(value);
    return [name, expected, expected !== undefined && signed.has(expected) ? expected : undefined];
  };
  return [
    among("recipient", swap.recipient),
    among("sold token", swap.sell_token),
    among("bought token", swap.buy_token),
    among("gross amount", swap.amount_in),
    among("least output", swap.amount_out_min),
    ...(swap.nonce === null ? [] : [among("nonce", swap.nonce)]),
  ];
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  const text = textOf(value);
  return text === undefined ? [] : [text];
}

/** A permit allows the spender of the swap to take exactly what the swap takes, and until the instant that is recorded. */
function permitFields(
  { row, data }: Signed,
  swap: SwapRow,
  context: { chainId: number; siblings: readonly Signed[]; snapshot: Snapshot },
): Field[] {
  const order = context.siblings.find(({ row }) => row.kind === "swap")?.data;
  const stated = order !== undefined && isOfInterface(order) ? order : undefined;
  const gross = stated === undefined ? swap.amount_in : sumOf(stated.message, ["amountIn", "swapFee", "affiliateFee"]);
  const spender =
    stated === undefined
      ? context.snapshot.capabilities.find(({ swap_id }) => swap_id === swap.id)?.spender
      : textOf(stated.domain.verifyingContract);
  const { message, domain } = data;
  return [
    ["token", swap.sell_token, textOf(domain.verifyingContract)],
    ...(domain.chainId === undefined
      ? []
      : [["chainId", String(context.chainId), textOf(domain.chainId)] satisfies Field]),
    ["owner", swap.wallet, textOf(message.owner)],
    ["spender", spender, textOf(message.spender)],
    ["value", textOf(gross), textOf(message.value)],
    ["deadline", String(row.valid_until_seconds), textOf(message.deadline)],
  ];
}

function compareFields({ row }: Signed, fields: readonly Field[]): Difference[] {
  const code = row.kind === "swap" ? "SIGNED_SWAP_DIFFERS" : "PERMIT_DIFFERS";
  return fields
    .filter(([, expected, stated]) => expected === undefined || expected !== stated)
    .map(([field, expected, stated]) => {
      const message = `The ${row.kind} signed as ${row.digest} says ${field} ${stated ?? "nothing"}; swap ${row.swap_id} needs ${expected ?? "nothing"}.`;
      return difference(code, `digest ${row.digest}`, message, { field, expected, stated, swap: row.swap_id });
    });
}

/** While a signed gasless swap may land, it is recorded as a live right; a wallet and token has one of these. */
function checkRights({ swaps, capabilities, histories }: Snapshot): Difference[] {
  const found: Difference[] = [];
  const live = capabilities.filter((right) => right.live);
  const holders = new Set(live.map(({ swap_id }) => swap_id));
  const known = new Set(capabilities.map(({ swap_id }) => swap_id));
  for (const swap of swaps.values()) {
    if (!known.has(swap.id) && histories.swaps.get(swap.id)?.everSigned) {
      const message = `Swap ${swap.id} was signed, and no right to spend its token is recorded.`;
      found.push(difference("CAPABILITY_MISSING", `swap ${swap.id}`, message, { state: swap.state }));
      continue;
    }
    if (!isOpen(swap) || swap.mode !== "gasless" || holders.has(swap.id)) continue;
    if (histories.swaps.get(swap.id)?.everConfirmed) continue;
    const message = `Swap ${swap.id} is ${swap.state} by signatures that are not recorded as a live right.`;
    found.push(difference("CAPABILITY_MISSING", `swap ${swap.id}`, message, { state: swap.state }));
  }
  for (const [key, same] of Map.groupBy(live, ({ wallet, token }) => `${wallet} ${token}`)) {
    if (same.length < 2) continue;
    const ids = same.map(({ swap_id }) => swap_id).join(", ");
    found.push(difference("TWO_LIVE", key, `More than one right to spend ${key} is live: ${ids}.`, { swaps: ids }));
  }
  return found;
}

function sumOf(message: Readonly<Record<string, unknown>>, names: readonly string[]): bigint | undefined {
  let sum = 0n;
  for (const name of names) {
    if (message[name] === undefined) continue;
    const value = numberOf(message[name]);
    if (value === undefined) return undefined;
    sum += value;
  }
  return sum;
}

function numberOf(value: unknown): bigint | undefined {
  const text = textOf(value);
  return text !== undefined && /^[0-9]{1,78}$/.test(text) ? BigInt(text) : undefined;
}

/** Addresses and numbers as one comparable text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value.toLowerCase();
  return typeof value === "bigint" || typeof value === "number" ? String(value) : undefined;
}
