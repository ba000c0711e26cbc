import { TypedDataEncoder, Wallet } from "ethers";
import { expect, it } from "vitest";
import type { SignatureRow, SwapRow } from "../../src/audit/rows.ts";
import { checkSignatures } from "../../src/audit/signatures.ts";
import type { Snapshot } from "../../src/audit/snapshot.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";

// Orders of a service that names its fields as it likes, and whose spender is another contract than the one that checks.

const CHAIN_ID = 31_337;
const WALLET = new Wallet(`0x${"21".repeat(32)}`);
const OWNER = toAddress(WALLET.address);
const SPENDER = toAddress(`0x${"a1".repeat(20)}`);
const VERIFYING = toAddress(`0x${"a3".repeat(20)}`);
const [GIVE, GET, STRANGER] = ["01", "02", "07"].map((byte) => toAddress(`0x${byte.repeat(20)}`)) as [
  Address,
  Address,
  Address,
];

const field = (name: string, type: string) => ({ name, type });
const ORDER = ["give", "get", "to"].map((name) => field(name, "address"));
const AMOUNTS = ["giveAmount", "getAtLeast", "number"].map((name) => field(name, "uint256"));
const terms = { give: GIVE, get: GET, to: OWNER, giveAmount: "1000", getAtLeast: "900", number: "7" };

const PERMIT = [
  ...[field("owner", "address"), field("spender", "address"), field("value", "uint256")],
  ...[field("nonce", "uint256"), field("deadline", "uint256")],
];

async function signed(kind: SignatureRow["kind"], data: { domain: object; types: object; message: object }) {
  const types = data.types as Record<string, { name: string; type: string }[]>;
  const message = data.message as Record<string, unknown>;
  return {
    ...{ swap_id: "s1", kind, typed_data: JSON.stringify(data), valid_until_seconds: 4_000_000_000, signed_at_ms: 2 },
    digest: TypedDataEncoder.hash(data.domain, types, message) as Hex,
    signature: (await WALLET.signTypedData(data.domain, types, message)) as Hex,
  };
}

const orderWith = (change: Partial<typeof terms>) =>
  signed("swap", {
    domain: { name: "Book", version: "1", chainId: String(CHAIN_ID), verifyingContract: VERIFYING },
    types: { Order: [...ORDER, ...AMOUNTS] },
    ...{ primaryType: "Order", message: { ...terms, ...change } },
  });

const permitFor = (spender: Address, value = "1000") =>
  signed("permit", {
    domain: { name: "USD Coin", version: "1", chainId: CHAIN_ID, verifyingContract: GIVE },
    types: { Permit: PERMIT },
    ...{ primaryType: "Permit", message: { owner: OWNER, spender, value, nonce: "0", deadline: "4000000000" } },
  });

/** Codes and fields of what the audit finds in these signatures of one swap. */
function found(signatures: readonly SignatureRow[]): string[] {
  const swap = {
    ...{ id: "s1", state: "final", mode: "gasless", wallet: OWNER, recipient: OWNER, sell_token: GIVE, buy_token: GET },
    ...{ amount_in: 1000n, amount_out_min: 900n, nonce: 7n },
  } as SwapRow;
  const snapshot = {
    signatures,
    swaps: new Map([["s1", swap]]),
    capabilities: [{ swap_id: "s1", wallet: OWNER, token: GIVE, spender: SPENDER, live: false, until_seconds: 1 }],
    histories: { swaps: new Map(), count: 0 },
  } as unknown as Snapshot;
  return checkSignatures(snapshot, CHAIN_ID).map(({ code, fields }) => `${code} ${String(fields.field)}`);
}

it("finds nothing where every value of the swap was signed, and the permit is for the recorded spender", async () => {
  expect(found([await orderWith({}), await permitFor(SPENDER)])).toEqual([]);
});

it.each([
  ["recipient", { to: STRANGER }],
  ["sold token", { give: STRANGER }],
  ["bought token", { get: STRANGER }],
  ["gross amount", { giveAmount: "1001" }],
  ["least output", { getAtLeast: "899" }],
  ["nonce", { number: "8" }],
])("says that the %s of the swap was not signed", async (name, change) => {
  expect(found([await orderWith(change)])).toEqual([`SIGNED_SWAP_DIFFERS ${name}`]);
});

it.each([VERIFYING, STRANGER])("says that a permit is for %s, who is not the recorded spender", async (spender) => {
  expect(found([await orderWith({}), await permitFor(spender)])).toEqual(["PERMIT_DIFFERS spender"]);
});

it("says that a permit is for another amount than the swap's", async () => {
  expect(found([await orderWith({}), await permitFor(SPENDER, "1001")])).toEqual(["PERMIT_DIFFERS value"]);
});
