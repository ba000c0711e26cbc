import { NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../src/domain/money/amount.ts";
import {
  AFFILIATE,
  AFFILIATE_FEE,
  AMOUNT_OUT_MIN,
  ATTACKER,
  GROSS,
  honestOrder,
  NOW,
  type OrderFields,
  OWNER,
  type Payloads,
  payloadsFor,
  ROUTER,
  type Scenario,
  USDC,
  WETH,
} from "./scenario.ts";

/** One lie: the field it is reported in, and the answers that report it. Every one breaks a bound. */
export interface Mutation {
  readonly field: string;
  readonly name: string;
  readonly payloads: Payloads;
}

type OrderChange = readonly [name: string, change: Partial<OrderFields>];

/** Lies inside the order, reported in typed data and calldata alike. */
function orderChanges(scenario: Scenario): Readonly<Record<string, readonly OrderChange[]>> {
  const honest = honestOrder(scenario);
  const gasless = scenario.mode === "gasless";
  const affiliateFee = honest.affiliate?.fee ?? 0n;
  const changes: Record<string, readonly OrderChange[]> = {
    recipient: [
      ["the attacker", { recipient: ATTACKER }],
      ["the router", { recipient: ROUTER }],
      ["nobody", { recipient: NATIVE_TOKEN }],
    ],
    fromAsset: [
      ["another token", { fromAsset: ATTACKER }],
      ["the bought token", { fromAsset: WETH }],
      ["the native token", { fromAsset: NATIVE_TOKEN }],
    ],
    toAsset: [
      ["a worthless token", { toAsset: ATTACKER }],
      ["the sold token", { toAsset: USDC }],
      ["the native token", { toAsset: NATIVE_TOKEN }],
    ],
    deadline: [
      ["past", { deadline: BigInt(NOW) }],
      ["a second too far", { deadline: BigInt(NOW + 301) }],
      ["in milliseconds", { deadline: BigInt(NOW + 120) * 1_000n }],
      ["never", { deadline: MAX_UINT256 }],
    ],
    amountOutMin: [
      ["one unit less", { amountOutMin: AMOUNT_OUT_MIN - 1n }],
      ["one", { amountOutMin: 1n }],
      ["zero", { amountOutMin: 0n }],
    ],
    amountIn: [
      ["one unit more", { amountIn: honest.amountIn + 1n }],
      ["one unit less", { amountIn: honest.amountIn - 1n }],
      ["everything", { amountIn: MAX_UINT256 }],
      ["nothing", { amountIn: 0n }],
    ],
    swapFee: [
      ["one unit on top", { swapFee: honest.swapFee + 1n }],
      ["above its share", feeOf(gasless ? 2_000_001n : 1n, affiliateFee)],
      ["all of it", feeOf(GROSS - affiliateFee - 1n, affiliateFee)],
    ],
    affiliate: scenario.affiliate
      ? [
          ["the attacker", { affiliate: { address: ATTACKER, fee: AFFILIATE_FEE } }],
          ["left out", { affiliate: undefined, amountIn: honest.amountIn + AFFILIATE_FEE }],
          ["one unit more", affiliateOf(honest, AFFILIATE_FEE + 1n)],
          ["half of it all", affiliateOf(honest, GROSS / 2n)],
        ]
      : [
          ["added for nothing", affiliateOf(honest, 0n)],
          ["added for one unit", affiliateOf(honest, 1n)],
          ["added on top", { affiliate: { address: ATTACKER, fee: 1_000_000n } }],
        ],
  };
  if (!gasless) return changes;
  return {
    ...changes,
    router: [
      ["the attacker", { router: ATTACKER }],
      ["the token", { router: USDC }],
      ["nobody", { router: NATIVE_TOKEN }],
    ],
    sender: [
      ["anybody", { sender: NATIVE_TOKEN }],
      ["ourselves", { sender: OWNER }],
      ["no address", { sender: "0x1234" }],
    ],
  };
}

function feeOf(swapFee: bigint, affiliateFee: bigint): Partial<OrderFields> {
  return { swapFee, amountIn: GROSS - swapFee - affiliateFee };
}

function affiliateOf(honest: OrderFields, fee: bigint): Partial<OrderFields> {
  return { affiliate: { address: AFFILIATE, fee }, amountIn: GROSS - honest.swapFee - fee };
}

type Change = readonly [field: string, name: string, value: unknown];

/** A JSON value of which JavaScript makes no text: it throws. */
const NO_TEXT = { toString: 1 };

/** Lies around the order in the quote: dotted paths with their new values; undefined takes the field away. */
function quoteChanges(scenario: Scenario): readonly Change[] {
  const changes: Change[] = [
    ["id", "empty", ""],
    ["id", "a number", 7],
    ["id", "missing", undefined],
    ["amountOut", "more than the minimum allows for", "101010101010101011"],
    ["amountOut", "an exponent", "1e18"],
    ["amountOut", "negative", "-100000000000000000"],
    ["amountOut", "missing", undefined],
    ["targetAddress", "the attacker", ATTACKER],
    ["targetAddress", "the sold token", USDC],
    ["targetAddress", "nobody", NATIVE_TOKEN],
  ];
  if (scenario.profile === "swapd") {
    changes.push(
      ["priceImpact", "above the limit", "0.010001"],
      ["priceImpact", "everything", "1"],
      ["priceImpact", "above the limit, by an exponent", "1.0001e-2"],
      ["priceImpact", "no text at all", NO_TEXT],
      ["expiresAt", "now", NOW],
      ["expiresAt", "zero", 0],
      ["expiresAt", "no number", "soon"],
    );
  }
  return scenario.mode === "gasless" ? [...changes, ...typedDataChanges()] : changes;
}

function typedDataChanges(): Change[] {
  const changes: Change[] = [
    ["typedData", "missing", undefined],
    ["typedData", "null", null],
    ["typedData", "a text", "sign this"],
    ["typedData.domain.name", "of another generation", "Dex Aggregator"],
    ["typedData.domain.name", "of the token", "USD Coin"],
    ["typedData.domain.name", "missing", undefined],
    ["typedData.domain.version", "of another generation", "9"],
    ["typedData.domain.version", "the next one", "2"],
    ["typedData.domain.version", "missing", undefined],
    ["typedData.domain.chainId", "of another chain", "1"],
    ["typedData.domain.chainId", "zero", "0"],
    ["typedData.domain.chainId", "missing", undefined],
    ["typedData.domain.verifyingContract", "the attacker", ATTACKER],
    ["typedData.domain.verifyingContract", "the token", USDC],
    ["typedData.domain.verifyingContract", "missing", undefined],
    ...["name", "version", "chainId", "verifyingContract"].map((key): Change => {
      return [`typedData.domain.${key}`, "no text at all", NO_TEXT];
    }),
    ["typedData.domain.salt", "zero", `0x${"00".repeat(32)}`],
    ["typedData.domain.salt", "a number", 1],
    ["typedData.domain.salt", "text", "x"],
    ["typedData.primaryType", "a permit", "Permit"],
    ["typedData.primaryType", "the domain", "EIP712Domain"],
    ["typedData.primaryType", "empty", ""],
    ["typedData.types", "empty", {}],
    ["typedData.types", "a permit", { Permit: [{ name: "owner", type: "address" }] }],
    ["typedData.types", "another swap", { Swap: [{ name: "data", type: "bytes" }] }],
    ["typedData.types.Permit", "added", [{ name: "owner", type: "address" }]],
    ["typedData.types.EIP712Domain", "added", [{ name: "name", type: "string" }]],
    ["typedData.types.Swap.4", "renamed", { name: "to", type: "address" }],
    ["typedData.types.Swap.8", "of another type", { name: "amountIn", type: "uint128" }],
    ["typedData.types.Swap.0", "a nested type", { name: "router", type: "Swap" }],
    ["typedData.message.data", "added", "0x"],
    ["typedData.message.permit", "added", "1"],
    ["typedData.message.nonce", "negative", "-1"],
  ];
  for (const field of ["recipient", "amountIn", "amountOutMin", "deadline", "swapFee", "fromAsset"]) {
    changes.push([`typedData.message.${field}`, "missing", undefined], [`typedData.message.${field}`, "null", null]);
    changes.push([`typedData.message.${field}`, "a list", ["1"]], [`typedData.message.${field}`, "an object", {}]);
    changes.push([`typedData.message.${field}`, "no text at all", NO_TEXT]);
  }
  return changes;
}

/** Lies around the order in the transaction. */
function transactionChanges(data: string): readonly Change[] {
  return [
    ["to", "the attacker", ATTACKER],
    ["to", "the sold token", USDC],
    ["to", "missing", undefined],
    ["from", "the attacker", ATTACKER],
    ["from", "nobody", NATIVE_TOKEN],
    ["from", "no address", "0x1"],
    ["value", "one wei", "1"],
    ["value", "everything", MAX_UINT256.toString()],
    ["value", "hexadecimal", "0x0"],
    ["chainId", "of another chain", 1],
    ["chainId", "zero", 0],
    ["chainId", "missing", undefined],
    ["data", "empty", "0x"],
    ["data", "a transfer", `0xa9059cbb${ATTACKER.slice(2).padStart(64, "0")}${"f".repeat(64)}`],
    ["data", "an approval", `0x095ea7b3${ATTACKER.slice(2).padStart(64, "0")}${"f".repeat(64)}`],
    ["data", "another selector", `0xdeadbeef${data.slice(10)}`],
    ["data", "cut", data.slice(0, -64)],
    ["data", "longer", `${data}${"00".repeat(32)}`],
    ["data", "with bytes behind the end", `${data}ff`],
    ["data", "half a byte", `${data}0`],
  ];
}

/** Every lie for a scenario. */
export function mutationsFor(scenario: Scenario): readonly Mutation[] {
  const honest = payloadsFor(scenario);
  const fromOrder = Object.entries(orderChanges(scenario)).flatMap(([field, changes]) =>
    changes.map(([name, change]) => ({ field: `order.${field}`, name, payloads: payloadsFor(scenario, change) })),
  );
  const fromQuote = quoteChanges(scenario).map(([field, name, value]) => ({
    field: `quote.${field}`,
    name,
    payloads: { ...honest, quote: withValue(honest.quote, field.split("."), value) },
  }));
  const { transaction } = honest;
  if (transaction === undefined) return [...fromOrder, ...fromQuote];
  const fromTransaction = transactionChanges(String(transaction.data)).map(([field, name, value]) => ({
    field: `transaction.${field}`,
    name,
    payloads: { ...honest, transaction: withValue(transaction, field.split("."), value) },
  }));
  return [...fromOrder, ...fromQuote, ...fromTransaction];
}

/** A copy with another value at a path; undefined takes the field away. */
export function withValue<T extends object>(source: T, path: readonly string[], value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return source;
  const copy = (Array.isArray(source) ? [...source] : { ...source }) as Record<string, unknown>;
  if (rest.length > 0) copy[key] = withValue((copy[key] ?? {}) as object, rest, value);
  else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy as T;
}
