import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { TRANSFER_TOPIC } from "../../../src/domain/run/measure-fill.ts";
import type { Prices } from "./market.ts";
import { POOL, ROUTER, type SimToken, tokenAt, WETH } from "./places.ts";
import { addressAt, eventTopic, isNativeAddress, selector, topicOf, wordAt, words } from "./words.ts";

export interface SimLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

/** What every contract remembers after a block, by name; never changed once the block stands. */
export type State = ReadonlyMap<string, bigint>;

/** Why a transaction reverts. */
export class Revert extends Error {}

/** Where nodes that trace transfers report moves of the native coin. */
const NATIVE_TRACE = `0x${"ee".repeat(20)}` as Address;
const APPROVAL = eventTopic("Approval(address,address,uint256)");
const SWAPPED = eventTopic(
  "Swapped(address,uint256,address,address,address,address,uint256,uint256,uint256,address,uint256)",
);
const SETTLED = eventTopic("Settled(address,address,uint256)");
const WITHDRAWAL_TOPIC = eventTopic("Withdrawal(address,uint256)");
const NONCE_CANCELLED = eventTopic("NonceCancelled(address,uint256)");
const SWAP = selector(
  "swap((address,address,address,uint256,uint256,uint256,uint256,uint256,address,uint256),(uint8,address,address,address,uint24,uint64)[])",
);
/** of the hosted service's contract: the order is packed into one argument, with the service's signature */
const PACKED_SWAP = "0x73fc4457";
export const APPROVE = selector("approve(address,uint256)");

/** An order as the settlement contract sees it. */
export interface Order {
  readonly owner: Address;
  /** undefined: the owner's own transaction */
  readonly sender: Address | undefined;
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  readonly deadline: bigint;
  readonly amountOutMin: bigint;
  readonly swapFee: bigint;
  readonly amountIn: bigint;
  /** undefined: the contract remembers no order, and settles it as often as allowance and deadline let it */
  readonly nonce: bigint | undefined;
}

export interface Moment {
  readonly seconds: number;
  readonly prices: Prices;
}

/** A state that one transaction, or one block, changes. */
export class Ledger {
  readonly values: Map<string, bigint>;

  constructor(state: State) {
    this.values = new Map(state);
  }

  balance(token: string, owner: string): bigint {
    return this.values.get(`balance ${token} ${owner}`) ?? 0n;
  }

  allowance(token: string, owner: string, spender: string): bigint {
    return this.values.get(`allowance ${token} ${owner} ${spender}`) ?? 0n;
  }

  count(account: string): number {
    return Number(this.values.get(`count ${account}`) ?? 0n);
  }

  permitNonce(token: string, owner: string): bigint {
    return this.values.get(`permit ${token} ${owner}`) ?? 0n;
  }

  isNonceUsed(owner: string, nonce: bigint): boolean {
    return this.values.has(`nonce ${owner} ${nonce}`);
  }

  credit(token: string, owner: string, amount: bigint): void {
    this.values.set(`balance ${token} ${owner}`, this.balance(token, owner) + amount);
  }

  countUp(account: string): void {
    this.values.set(`count ${account}`, BigInt(this.count(account) + 1));
  }

  cancelNonce(owner: Address, nonce: bigint): SimLog[] {
    if (this.isNonceUsed(owner, nonce)) throw new Revert("nonce used");
    this.values.set(`nonce ${owner} ${nonce}`, 1n);
    return [{ address: ROUTER, topics: [NONCE_CANCELLED, topicOf(owner), words(nonce)], data: "0x" }];
  }

  /** The owner's signature lets somebody spend exactly so much, once. */
  permit(
    grant: { token: string; owner: string; value: bigint; nonce: bigint; deadline: bigint },
    seconds: number,
  ): void {
    const { token, owner, value, nonce, deadline } = grant;
    if (BigInt(seconds) > deadline) throw new Revert("permit expired");
    if (nonce !== this.permitNonce(token, owner)) throw new Revert("permit nonce used");
    this.values.set(`permit ${token} ${owner}`, nonce + 1n);
    this.values.set(`allowance ${token} ${owner} ${ROUTER}`, value);
  }

  /** Runs a call. @throws Revert */
  call(call: { from: Address; to: Address; data: string; value: bigint }, moment: Moment): SimLog[] {
    if (call.data.length <= 2) return this.moveNative(call.from, call.to, call.value);
    if (call.to === ROUTER) return this.swap(call, moment);
    const token = tokenAt(call.to);
    if (token === undefined || call.data.slice(0, 10) !== APPROVE || call.value !== 0n)
      throw new Revert("no such call");
    const [spender, amount] = [addressAt(call.data, 0), wordAt(call.data, 1)];
    this.values.set(`allowance ${token.address} ${call.from} ${spender}`, amount);
    return [{ address: token.address, topics: [APPROVAL, topicOf(call.from), topicOf(spender)], data: words(amount) }];
  }

  /** Takes the gross amount, gives the output of the market, and notes the nonce of a signed order. @throws Revert */
  settle(order: Order, moment: Moment): SimLog[] {
    const { owner, fromAsset, toAsset, recipient, nonce } = order;
    const gross = order.amountIn + order.swapFee;
    if (BigInt(moment.seconds) > order.deadline) throw new Revert("expired");
    const isOnce = order.sender !== undefined && nonce !== undefined;
    if (isOnce && this.isNonceUsed(owner, nonce)) throw new Revert("nonce used");
    const amountOut = moment.prices.output(fromAsset, toAsset, order.amountIn);
    if (amountOut < order.amountOutMin) throw new Revert("too little received");
    const logs: SimLog[] = [];
    if (!isNativeAddress(fromAsset)) {
      const allowance = this.allowance(fromAsset, owner, ROUTER);
      if (allowance < gross) throw new Revert("allowance too low");
      this.values.set(`allowance ${fromAsset} ${owner} ${ROUTER}`, allowance - gross);
    }
    logs.push(...this.move(fromAsset, { from: owner, to: POOL, amount: gross }));
    this.credit(toAsset, POOL, amountOut);
    if (isNativeAddress(toAsset)) {
      logs.push({ address: WETH.address, topics: [WITHDRAWAL_TOPIC, topicOf(ROUTER)], data: words(amountOut) });
    }
    logs.push(...this.move(toAsset, { from: POOL, to: recipient, amount: amountOut }));
    if (isOnce) this.values.set(`nonce ${owner} ${nonce}`, 1n);
    return [...logs, swappedLog(order, amountOut)];
  }

  private swap(call: { from: Address; data: string; value: bigint }, moment: Moment): SimLog[] {
    const order = readOrder(call.from, call.data);
    if (order === undefined) throw new Revert("no such call");
    const isNative = isNativeAddress(order.fromAsset);
    if (call.value !== (isNative ? order.amountIn + order.swapFee : 0n)) throw new Revert("wrong value");
    return this.settle(order, moment);
  }

  private moveNative(from: Address, to: Address, amount: bigint): SimLog[] {
    if (amount === 0n) return [];
    return this.move(`0x${"0".repeat(40)}`, { from, to, amount });
  }

  /** Anybody's transfer, of a token or the coin. @throws Revert */
  pay(token: string, transfer: { from: Address; to: Address; amount: bigint }): readonly SimLog[] {
    return receiptLogs(this.move(token, transfer));
  }

  private move(token: string, move: { from: Address; to: Address; amount: bigint }): SimLog[] {
    const { from, to, amount } = move;
    if (this.balance(token, from) < amount) throw new Revert("balance too low");
    this.credit(token, from, -amount);
    this.credit(token, to, amount);
    const address = isNativeAddress(token) ? NATIVE_TRACE : (token as Address);
    return [{ address, topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)], data: words(amount) }];
  }
}

/** Moves of the native coin leave no log in a receipt; only a trace shows them. */
export function receiptLogs(logs: readonly SimLog[]): readonly SimLog[] {
  return logs.filter(({ address }) => address !== NATIVE_TRACE);
}

/** What left an owner, by the receipts' transfers. */
export function outflows(logs: readonly SimLog[], owner: Address): readonly { token: SimToken; amount: bigint }[] {
  return logs.flatMap(({ address, topics, data }) => {
    const token = tokenAt(address);
    if (token === undefined || topics[0] !== TRANSFER_TOPIC || topics[1] !== topicOf(owner)) return [];
    return [{ token, amount: BigInt(data) }];
  });
}

/** The order of an owner's own swap, as the contract of either service reads it; undefined: it is another call. */
export function readOrder(owner: Address, data: string): Order | undefined {
  const name = data.slice(0, 10);
  if (name === PACKED_SWAP) return readPackedOrder(owner, data);
  if (name !== SWAP) return undefined;
  return {
    ...{ owner, sender: undefined, recipient: addressAt(data, 0) },
    ...{ fromAsset: addressAt(data, 1), toAsset: addressAt(data, 2), deadline: wordAt(data, 3) },
    ...{ amountOutMin: wordAt(data, 4), swapFee: wordAt(data, 5), amountIn: wordAt(data, 6), nonce: wordAt(data, 7) },
  };
}

/** The order of a signed message. */
export function signedOrder(owner: Address, message: Readonly<Record<string, string>>): Order {
  const number = (name: string): bigint => BigInt(message[name] ?? 0);
  const address = (name: string): Address => String(message[name]) as Address;
  return {
    ...{ owner, sender: address("sender"), recipient: address("recipient") },
    ...{ fromAsset: address("fromAsset"), toAsset: address("toAsset"), deadline: number("deadline") },
    ...{ amountOutMin: number("amountOutMin"), swapFee: number("swapFee"), amountIn: number("amountIn") },
    nonce: message.nonce === undefined ? undefined : number("nonce"),
  };
}

/** Addresses stand in fixed places; each number is a shift and the place of the word that is shifted. */
function readPackedOrder(owner: Address, data: string): Order {
  const bytes = (at: number, length: number): string => data.slice(2 + at * 2, 2 + (at + length) * 2);
  const address = (at: number): Address => `0x${bytes(at, 20)}` as Address;
  const number = (at: number): bigint =>
    BigInt(`0x${bytes(Number(`0x${bytes(at + 1, 2)}`), 32).padEnd(64, "0")}`) >> BigInt(`0x${bytes(at, 1)}`);
  return {
    ...{ owner, sender: undefined, recipient: address(72), fromAsset: address(92), toAsset: address(112) },
    ...{ deadline: number(132), amountOutMin: number(135), swapFee: number(138), amountIn: number(141) },
    nonce: undefined,
  };
}

/** Calldata of the owner's own swap; the route is empty, because the market has no pools. */
export function swapCalldata(order: Omit<Order, "owner" | "sender">): Hex {
  const { recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn, nonce } = order;
  const fields = [recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn, nonce ?? 0n, 0n, 0n];
  return `${SWAP}${words(...fields, 11 * 32, 0).slice(2)}`;
}

function swappedLog(order: Order, amountOut: bigint): SimLog {
  const { owner, nonce, sender, recipient, fromAsset, toAsset, amountIn, swapFee } = order;
  if (nonce === undefined)
    return { address: ROUTER, topics: [SETTLED, topicOf(owner), topicOf(recipient)], data: words(amountOut) };
  const data = words(recipient, fromAsset, toAsset, amountIn, amountOut, swapFee, 0n, 0n);
  return { address: ROUTER, topics: [SWAPPED, topicOf(owner), words(nonce), topicOf(sender ?? owner)], data };
}
