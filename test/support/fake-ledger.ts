import { Interface } from "ethers";
import { MARK_FACTORY } from "../../src/domain/guard/once-mark.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../src/domain/money/address.ts";
import { TRANSFER_TOPIC } from "../../src/domain/run/measure-fill.ts";
import type { AssumedHoldings, ChainLog } from "../../src/ports/chain.ts";
import { POOL, RELAYER, ROUTER } from "./builders.ts";
import { transferLog } from "./reading-samples.ts";

const ORDER =
  "(address recipient, address fromAsset, address toAsset, uint256 deadline, uint256 amountOutMin, uint256 swapFee," +
  " uint256 amountIn, uint256 nonce, address affiliate, uint256 affiliateFee) order";
const ROUTE = "(uint8 protocol, address pool, address tokenIn, address tokenOut, uint24 fee, uint64 portion)[] route";

/** The settlement contract's interface, written down a second time. */
export const SETTLEMENT = new Interface([
  `function swap(${ORDER}, ${ROUTE}) payable returns (uint256 amountOut)`,
  "function isNonceUsed(address owner, uint256 nonce) view returns (bool)",
  "event Swapped(address indexed owner, uint256 indexed nonce, address indexed sender, address recipient, address fromAsset, address toAsset, uint256 amountIn, uint256 amountOut, uint256 swapFee, address affiliate, uint256 affiliateFee)",
  "event NonceCancelled(address indexed owner, uint256 indexed nonce)",
]);
export const ERC20 = new Interface([
  "function approve(address spender, uint256 amount) returns (bool)",
  "event Approval(address indexed owner, address indexed spender, uint256 amount)",
]);

/** A swap as the settlement contract sees it. */
export interface FakeOrder {
  readonly owner: Address;
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  readonly deadline: bigint;
  readonly amountOut: bigint;
  readonly amountOutMin: bigint;
  readonly gross: bigint;
  readonly swapFee: bigint;
  readonly nonce: bigint;
}

/** Why a transaction reverts. */
export class FakeRevert extends Error {}

/**
 * What the contracts and tokens of the fake chain remember: one flat table, so that a block's state is a copy of it.
 * Tokens are plain; native coins are the zero address.
 */
export class FakeLedger {
  readonly values: Map<string, bigint>;

  constructor(values: ReadonlyMap<string, bigint> = new Map()) {
    this.values = new Map(values);
  }

  balance(token: Address, owner: Address): bigint {
    return this.values.get(`balance ${token} ${owner}`) ?? 0n;
  }

  allowance(token: Address, owner: Address, spender: Address): bigint {
    return this.values.get(`allowance ${token} ${owner} ${spender}`) ?? 0n;
  }

  count(account: Address): number {
    return Number(this.values.get(`count ${account}`) ?? 0n);
  }

  isNonceUsed(owner: Address, nonce: bigint): boolean {
    return this.values.has(`nonce ${owner} ${nonce}`);
  }

  credit(token: Address, owner: Address, amount: bigint): void {
    this.values.set(`balance ${token} ${owner}`, this.balance(token, owner) + amount);
  }

  setAllowance(token: Address, owner: Address, amount: bigint, spender: Address = ROUTER): void {
    this.values.set(`allowance ${token} ${owner} ${spender}`, amount);
  }

  /** As if somebody had and allowed this. */
  suppose({ owner, native, balances, allowances }: AssumedHoldings): void {
    for (const { token, amount } of [{ token: NATIVE_TOKEN, amount: native }, ...balances])
      this.values.set(`balance ${token} ${owner}`, amount);
    for (const { token, spender, amount } of allowances) this.setAllowance(token, owner, amount, spender);
  }

  useNonce(owner: Address, nonce: bigint): void {
    this.values.set(`nonce ${owner} ${nonce}`, 1n);
  }

  cancelNonce(owner: Address, nonce: bigint): Log {
    this.useNonce(owner, nonce);
    const log = SETTLEMENT.encodeEventLog("NonceCancelled", [owner, nonce]);
    return { address: ROUTER, topics: log.topics as Hex[], data: log.data as Hex };
  }

  countUp(account: Address): void {
    this.values.set(`count ${account}`, BigInt(this.count(account) + 1));
  }

  move(token: Address, move: { from: Address; to: Address; amount: bigint }): Log {
    if (this.balance(token, move.from) < move.amount) throw new FakeRevert("balance too low");
    this.credit(token, move.from, -move.amount);
    this.credit(token, move.to, move.amount);
    return transferLog({ token, ...move });
  }

  /** Takes the gross amount by allowance, gives the output, and notes the nonce of a signed order. */
  settle(order: FakeOrder, seconds: number, sender?: Address): Log[] {
    const { owner, fromAsset, toAsset, gross, nonce } = order;
    if (BigInt(seconds) > order.deadline) throw new FakeRevert("expired");
    if (order.amountOut < order.amountOutMin) throw new FakeRevert("too little");
    if (sender !== undefined && this.isNonceUsed(owner, nonce)) throw new FakeRevert("nonce used");
    const allowance = this.allowance(fromAsset, owner, ROUTER);
    if (allowance < gross) throw new FakeRevert("allowance too low");
    this.setAllowance(fromAsset, owner, allowance - gross);
    const logs = [this.move(fromAsset, { from: owner, to: POOL, amount: gross })];
    this.credit(toAsset, POOL, order.amountOut);
    logs.push(this.move(toAsset, { from: POOL, to: order.recipient, amount: order.amountOut }));
    if (sender !== undefined) this.useNonce(owner, nonce);
    return [...logs, swappedLog(order)];
  }

  /** Runs calldata to the router or to a token. @throws FakeRevert */
  execute(call: { from: Address; to: Address; data: Hex }, seconds: number): Log[] {
    if (call.data === "0x") return [];
    if (call.to === MARK_FACTORY) return this.make(call.data);
    if (call.to === ROUTER) return this.settle(decodeOrder(call, this.rate), seconds);
    const [spender, amount] = ERC20.decodeFunctionData("approve", call.data);
    const to = parseAddress(spender) ?? ROUTER;
    this.setAllowance(call.to, call.from, amount as bigint, to);
    const log = ERC20.encodeEventLog("Approval", [call.from, to, amount]);
    return [{ address: call.to, topics: log.topics as Hex[], data: log.data as Hex }];
  }

  /** The factory makes the same account once. */
  private make(data: Hex): Log[] {
    if (this.values.has(`made ${data}`)) throw new FakeRevert("it exists");
    this.values.set(`made ${data}`, 1n);
    return [];
  }

  /** output of a self-executed swap as a share of its minimum, in percent; below 100 it reverts */
  rate = 101n;
}

function decodeOrder(call: { from: Address; data: Hex }, rate: bigint): FakeOrder {
  const [order] = SETTLEMENT.decodeFunctionData("swap", call.data);
  const { recipient, fromAsset, toAsset, deadline, amountOutMin, swapFee, amountIn, nonce } = order.toObject();
  const address = (text: string): Address => parseAddress(text) ?? ROUTER;
  return {
    ...{ owner: call.from, recipient: address(recipient), fromAsset: address(fromAsset), toAsset: address(toAsset) },
    ...{ deadline, amountOutMin, swapFee, nonce, gross: amountIn + swapFee },
    amountOut: (amountOutMin * rate) / 100n,
  };
}

function swappedLog(order: FakeOrder): Log {
  const { owner, nonce, recipient, fromAsset, toAsset, gross, swapFee, amountOut } = order;
  const nobody = `0x${"0".repeat(40)}`;
  const log = SETTLEMENT.encodeEventLog("Swapped", [
    ...[owner, nonce, RELAYER, recipient, fromAsset, toAsset, gross - swapFee, amountOut, swapFee, nobody, 0n],
  ]);
  return { address: ROUTER, topics: log.topics as Hex[], data: log.data as Hex };
}

type Log = Omit<ChainLog, "logIndex">;

/** What logs say of transfers and allowances, as a simulation reports it. */
export function movesOf(logs: readonly Log[]): {
  transfers: { token: Address; from: Address; to: Address; amount: bigint }[];
  approvals: { token: Address; owner: Address; spender: Address; amount: bigint }[];
} {
  const approval = ERC20.getEvent("Approval")?.topicHash;
  return {
    transfers: logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC).map(toMove),
    approvals: logs.filter(({ topics }) => topics[0] === approval).map(toApproval),
  };
}

function partiesOf(log: Log): [Address, Address] {
  const [from, to] = log.topics.slice(1).map((topic) => parseAddress(`0x${topic.slice(26)}`) ?? ROUTER);
  return [from ?? ROUTER, to ?? ROUTER];
}

function toMove(log: Log): { token: Address; from: Address; to: Address; amount: bigint } {
  const [from, to] = partiesOf(log);
  return { token: log.address, from, to, amount: BigInt(log.data) };
}

function toApproval(log: Log): { token: Address; owner: Address; spender: Address; amount: bigint } {
  const [owner, spender] = partiesOf(log);
  return { token: log.address, owner, spender, amount: BigInt(log.data) };
}
