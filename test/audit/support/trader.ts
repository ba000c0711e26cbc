import { Signature, TypedDataEncoder, type Wallet } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import type { Chain, MinedTransaction } from "./chain.ts";
import { type Journal, type RowToken, type SwapStory, writeStory } from "./journal.ts";
import { signTransaction, writeAttempt, writeIntent } from "./lane-rows.ts";

/** What a swap is to do. */
export interface Order {
  readonly id: string;
  readonly sell: RowToken;
  readonly buy: RowToken;
  readonly amount: bigint;
  readonly recipient?: Address;
  /** percent of what is sold that the route uses; the rest comes back to the wallet */
  readonly uses?: bigint;
}

/** Swaps on the chain and writes down what a careful daemon would. */
export interface Trader {
  /** Approves exactly, swaps by an own transaction, and records it as final. */
  swapSelfExecuted(order: Order): Promise<MinedTransaction>;
  /** Signs permit and swap; the relayer executes. `record` says how far the database got. */
  swapGasless(order: Order, record?: "final" | "submitted" | "not executed"): Promise<Hex | undefined>;
  /** A signed swap that never landed and ended. */
  expire(order: Order): Promise<void>;
  /** Sends one transaction of the wallet as an intent of its own. */
  perform(intent: {
    id: string;
    purpose: "swap" | "approve" | "revoke" | "relay";
    to: Address;
    data: Hex;
    value?: bigint;
  }): Promise<MinedTransaction>;
}

const UNTIL = 4_000_000_000;
const SWAP_FEE = 1_000n;
const SIGNED = ["planned", "quoted", "cleared", "signed"];
const FINAL = [...SIGNED, "submitted", "mined", "confirmed", "final"];
const NO_ONE = NATIVE_TOKEN;

const SWAP_TYPE = [
  ["router", "address"],
  ["sender", "address"],
  ["recipient", "address"],
  ["fromAsset", "address"],
  ["toAsset", "address"],
  ["deadline", "uint256"],
  ["amountOutMin", "uint256"],
  ["swapFee", "uint256"],
  ["amountIn", "uint256"],
  ["nonce", "uint256"],
].map(([name, type]) => ({ name: String(name), type: String(type) }));
const PERMIT_TYPE = [
  ["owner", "address"],
  ["spender", "address"],
  ["value", "uint256"],
  ["nonce", "uint256"],
  ["deadline", "uint256"],
].map(([name, type]) => ({ name: String(name), type: String(type) }));

/** Goes on with the slots after those in the journal, and with its nonces where no other one is given. */
export function createTrader(chain: Chain, journal: Journal, firstNonce?: number): Trader {
  const owner = toAddress(chain.wallet.address);
  const { settlement } = chain.contracts;
  let nextNonce = firstNonce ?? Number(journal.get("SELECT coalesce(max(nonce) + 1, 0) FROM lane_intents"));
  let nextSlot = Number(journal.get("SELECT coalesce(max(slot_ms) + 1, 1000000) FROM runs"));

  const perform: Trader["perform"] = async ({ id, purpose, to, data, value = 0n }) => {
    const nonce = nextNonce++;
    const signed = await signTransaction(chain.wallet, { chainId: chain.chainId, nonce, to, data, value });
    const result = await chain.sendRaw(signed.raw);
    writeIntent(journal, { id, purpose, to, data, value, account: owner, chainId: chain.chainId, nonce, ...result });
    writeAttempt(journal, { intentId: id, kind: "original", nonce, ...signed });
    return result;
  };

  const storyOf = (
    order: Order,
  ): Omit<SwapStory, "mode" | "states" | "runState" | "ledger" | "intentId" | "nonce"> => ({
    id: order.id,
    strategy: "dca",
    slotMs: nextSlot++,
    wallet: owner,
    recipient: order.recipient ?? owner,
    sell: order.sell,
    buy: order.buy,
    amountIn: order.amount,
    amountOutMin: 1n,
    fill: undefined,
    spender: settlement.address,
    live: false,
  });

  const routeOf = async ({ sell, buy, uses = 100n }: Order) => {
    const wrap = (token: RowToken) => (token.address === NATIVE_TOKEN ? chain.tokens.WETH.address : token.address);
    const [tokenIn, tokenOut] = [wrap(sell), wrap(buy)];
    return [[0, await chain.pair(tokenIn, tokenOut), tokenIn, tokenOut, 0, uses * 10n ** 16n]];
  };
  const soldBy = ({ amount, uses = 100n }: Order, swapFee = 0n) => swapFee + ((amount - swapFee) * uses) / 100n;
  const orderTuple = (order: Order, terms: { swapFee: bigint; nonce: bigint }) => [
    order.recipient ?? owner,
    order.sell.address,
    order.buy.address,
    UNTIL,
    1n,
    terms.swapFee,
    order.amount - terms.swapFee,
    terms.nonce,
    NO_ONE,
    0n,
  ];
  const boughtIn = (result: MinedTransaction): bigint => {
    const event = result.logs.find((log) => log.address.toLowerCase() === settlement.address);
    const parsed = event === undefined ? null : settlement.abi.parseLog(event);
    if (!result.succeeded || parsed === null) throw new Error(`${result.hash} did not swap`);
    return parsed.args.amountOut;
  };

  const swapSelfExecuted: Trader["swapSelfExecuted"] = async (order) => {
    if (order.sell.address !== NATIVE_TOKEN) {
      const data = chain.contracts.usdc.abi.encodeFunctionData("approve", [settlement.address, order.amount]) as Hex;
      await perform({ id: `${order.id}.approve1`, purpose: "approve", to: order.sell.address, data });
    }
    const values = [orderTuple(order, { swapFee: 0n, nonce: 0n }), await routeOf(order)];
    const result = await perform({
      id: `${order.id}.swap`,
      purpose: "swap",
      to: settlement.address,
      data: settlement.abi.encodeFunctionData("swap", values) as Hex,
      value: order.sell.address === NATIVE_TOKEN ? order.amount : 0n,
    });
    const fill = { ...result, sold: soldBy(order), bought: boughtIn(result) };
    writeStory(journal, {
      ...storyOf(order),
      mode: "self-executed",
      states: FINAL,
      runState: "filled",
      ledger: "spent",
      intentId: `${order.id}.swap`,
      nonce: null,
      fill,
    });
    return result;
  };

  const signGasless = async (order: Order, nonce: bigint) => {
    const token = order.sell.address === chain.tokens.USDC.address ? chain.contracts.usdc : chain.contracts.dai;
    const swap = {
      domain: { name: "swapd", version: "1", chainId: chain.chainId, verifyingContract: settlement.address },
      types: { Swap: SWAP_TYPE },
      primaryType: "Swap",
      message: {
        router: settlement.address,
        sender: chain.relayer.address,
        recipient: order.recipient ?? owner,
        fromAsset: order.sell.address,
        toAsset: order.buy.address,
        deadline: String(UNTIL),
        amountOutMin: "1",
        swapFee: String(SWAP_FEE),
        amountIn: String(order.amount - SWAP_FEE),
        nonce: String(nonce),
      },
    };
    const permit = {
      domain: {
        name: String(await chain.call(token, "name")),
        version: "1",
        chainId: chain.chainId,
        verifyingContract: token.address,
      },
      types: { Permit: PERMIT_TYPE },
      primaryType: "Permit",
      message: {
        owner,
        spender: settlement.address,
        value: String(order.amount),
        nonce: String(await chain.call(token, "nonces", owner)),
        deadline: String(UNTIL),
      },
    };
    return { swap: await sign(chain.wallet, swap), permit: await sign(chain.wallet, permit) };
  };

  const journalGasless = (
    order: Order,
    nonce: bigint,
    signed: Awaited<ReturnType<typeof signGasless>>,
    rest: Pick<SwapStory, "states" | "runState" | "ledger" | "fill" | "live">,
  ): void => {
    writeStory(journal, { ...storyOf(order), mode: "gasless", intentId: null, nonce, ...rest });
    for (const kind of ["swap", "permit"] as const) {
      const { digest, typedData, signature } = signed[kind];
      journal.insert("signatures", {
        digest,
        swap_id: order.id,
        kind,
        typed_data: typedData,
        valid_until_seconds: UNTIL,
        intended_at_ms: 1,
        signature,
        signed_at_ms: 2,
      });
    }
  };

  const nonceOf = (order: Order) => BigInt(TypedDataEncoder.hash({}, { T: [{ name: "id", type: "string" }] }, order));

  const swapGasless: Trader["swapGasless"] = async (order, record = "final") => {
    const nonce = nonceOf(order);
    const signed = await signGasless(order, nonce);
    const open = { states: [...SIGNED, "submitted"], runState: "executing", ledger: "reserved", live: true } as const;
    if (record === "not executed") {
      journalGasless(order, nonce, signed, { ...open, fill: undefined });
      return undefined;
    }
    const { v, r, s } = Signature.from(signed.permit.signature);
    const data = settlement.abi.encodeFunctionData("swapWithSignature", [
      owner,
      orderTuple(order, { swapFee: SWAP_FEE, nonce }),
      await routeOf(order),
      signed.swap.signature,
      [order.amount, UNTIL, v, r, s],
    ]) as Hex;
    const relayerNonce = Number(await chain.rpc.call("eth_getTransactionCount", [chain.relayer.address, "latest"]));
    const transaction = { chainId: chain.chainId, nonce: relayerNonce, to: settlement.address, data, value: 0n };
    const result = await chain.sendRaw((await signTransaction(chain.relayer, transaction)).raw);
    const fill = {
      ...result,

      sold: soldBy(order, SWAP_FEE),
      bought: boughtIn(result),
    };
    if (record === "submitted") journalGasless(order, nonce, signed, { ...open, fill: undefined });
    else
      journalGasless(order, nonce, signed, { states: FINAL, runState: "filled", ledger: "spent", live: false, fill });
    return result.hash;
  };

  const expire: Trader["expire"] = async (order) => {
    const nonce = nonceOf(order);
    const states = [...SIGNED, "submitted", "expired"];
    const rest = { states, runState: "failed", ledger: "released", fill: undefined, live: false } as const;
    journalGasless(order, nonce, await signGasless(order, nonce), rest);
  };

  return { swapSelfExecuted, swapGasless, expire, perform };
}

async function sign(
  wallet: Wallet,
  data: { domain: object; types: Record<string, typeof SWAP_TYPE>; message: object },
) {
  return {
    typedData: JSON.stringify(data),
    digest: TypedDataEncoder.hash(data.domain, data.types, data.message as Record<string, unknown>) as Hex,
    signature: (await wallet.signTypedData(data.domain, data.types, data.message as Record<string, unknown>)) as Hex,
  };
}
