import { ChainReadError } from "../../domain/chain-read-error.ts";
import { type Address, type Hex, NATIVE_TOKEN, wordOf } from "../../domain/money/address.ts";
import { type FillReceipt, TRANSFER_TOPIC, WITHDRAWAL_TOPIC } from "../../domain/run/measure-fill.ts";
import type { CallRequest, Chain, SimulationOutcome } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { SwapService } from "../../ports/swap-service.ts";
import { BACKTEST_CONTRACT, Desk, type DeskTerms, numbered, type QuotedSwap, serviceOf } from "./desk.ts";
import type { Market } from "./market.ts";

type Held = ReadonlyMap<Address, ReadonlyMap<Address, bigint>>;

/** What the world of a backtest is made of. Amounts in smallest units. */
export interface WorldTerms extends DeskTerms {
  readonly wrappedNative: Address;
  /** what each account has at the beginning, by token */
  readonly holdings: Held;
  /** wei per gas */
  readonly gasPrice: bigint;
  readonly approvalGas: bigint;
}

/** A market that fills, shown as the engine sees a chain and a service. */
export interface World {
  readonly chain: Chain;
  readonly service: SwapService;
  /** Takes a transaction into a block at this instant. */
  execute(intent: IntentRow): FillReceipt;
  /** what all accounts hold now */
  holdings(): Held;
}

/** Makes the world. Its prices are the market's, and its time is the clock's. */
export function createWorld(
  terms: WorldTerms,
  around: { readonly market: Market; readonly clock: Pick<Clock, "nowMs"> },
): World {
  const desk = new Desk(terms, around);
  const accounts = new Accounts(terms.holdings);
  let blocks = 0;
  const nowSeconds = (): number => Math.floor(around.clock.nowMs() / 1_000);
  const chain: Chain = {
    ...ABSENT,
    ...{ chainId: terms.chainId, visibility: "public" },
    latest: async () => ({
      ...{ number: blocks + 1, hash: numbered(blocks + 1), timestamp: nowSeconds(), baseFeePerGas: terms.gasPrice },
    }),
    priorityFee: async () => 0n,
    code: async () => "0x",
    balance: async (token, owner) => accounts.balance(token, owner),
    nativeBalance: async (owner) => accounts.balance(NATIVE_TOKEN, owner),
    allowance: async (grant) => accounts.allowance(grant),
    simulate: async (calls) => simulated(calls, terms, desk),
  };
  const execute = (intent: IntentRow): FillReceipt => {
    blocks += 1;
    const isSwap = intent.purpose === "swap";
    const gasUsed = isSwap ? terms.swapGas : terms.approvalGas;
    const receipt = {
      ...{ hash: numbered(blocks), blockNumber: blocks, blockHash: numbered(blocks), succeeded: true, logs: [] },
      ...{ gasUsed, effectiveGasPrice: terms.gasPrice, blockTimeSeconds: nowSeconds() },
    };
    accounts.move(NATIVE_TOKEN, intent.account, -gasUsed * terms.gasPrice);
    if (!isSwap) {
      accounts.allow({ token: intent.to, owner: intent.account }, BigInt(`0x${intent.data.slice(-64)}`));
      return receipt;
    }
    const swap = desk.quoted(intent.data);
    accounts.settle(swap);
    desk.filled(swap);
    return { ...receipt, logs: logsOf(swap, terms.wrappedNative) };
  };
  return { chain, service: serviceOf(desk), execute, holdings: () => accounts.held };
}

interface Grant {
  readonly token: Address;
  readonly owner: Address;
}

/** Who has what, and what the one contract may take. */
class Accounts {
  readonly held: Map<Address, Map<Address, bigint>>;
  readonly #allowed = new Map<string, bigint>();

  constructor(held: Held) {
    this.held = new Map([...held].map(([account, tokens]) => [account, new Map(tokens)]));
  }

  balance(token: Address, owner: Address): bigint {
    return this.held.get(owner)?.get(token) ?? 0n;
  }

  move(token: Address, owner: Address, change: bigint): void {
    const tokens = this.held.get(owner) ?? new Map<Address, bigint>();
    tokens.set(token, (tokens.get(token) ?? 0n) + change);
    this.held.set(owner, tokens);
  }

  allowance({ token, owner }: Grant): bigint {
    return this.#allowed.get(`${owner} ${token}`) ?? 0n;
  }

  allow({ token, owner }: Grant, amount: bigint): void {
    this.#allowed.set(`${owner} ${token}`, amount);
  }

  /** @throws Error when more is sold than there is: a broken invariant */
  settle({ request, amountOut }: QuotedSwap): void {
    const { sell, buy, amount, owner, recipient } = request;
    if (this.balance(sell.address, owner) < amount) throw new Error(`${owner} sells ${sell.symbol} that it has not`);
    this.move(sell.address, owner, -amount);
    this.move(buy.address, recipient, amountOut);
    this.allow({ token: sell.address, owner }, 0n);
  }
}

function simulated(calls: readonly CallRequest[], terms: WorldTerms, desk: Desk): SimulationOutcome {
  const swaps = calls.filter(({ to }) => to === BACKTEST_CONTRACT).map(({ data }) => desk.quoted(data));
  const gasUsedByCall = calls.map(({ to }) => (to === BACKTEST_CONTRACT ? terms.swapGas : terms.approvalGas));
  return {
    ...{ kind: "ok", way: "simulate", gasUsedByCall, approvals: [] },
    gasUsed: gasUsedByCall.reduce((sum, gas) => sum + gas, 0n),
    transfers: swaps.flatMap(({ request: { sell, buy, amount, owner, recipient }, amountOut }) => [
      { token: sell.address, from: owner, to: BACKTEST_CONTRACT, amount },
      { token: buy.address, from: BACKTEST_CONTRACT, to: recipient, amount: amountOut },
    ]),
  };
}

/** What a receipt would show of the swap. A native coin that is sold is the transaction's value and no event. */
function logsOf({ request, amountOut }: QuotedSwap, wrappedNative: Address): FillReceipt["logs"] {
  const { sell, buy, amount, owner, recipient } = request;
  const data = (raw: bigint): Hex => `0x${raw.toString(16).padStart(64, "0")}`;
  const transfer = (token: Address, [from, to]: readonly [Address, Address], raw: bigint) => ({
    ...{ address: token, topics: [TRANSFER_TOPIC, wordOf(from), wordOf(to)] as const, data: data(raw) },
  });
  const paid = sell.address === NATIVE_TOKEN ? [] : [transfer(sell.address, [owner, BACKTEST_CONTRACT], amount)];
  const unwrapped = { address: wrappedNative, topics: [WITHDRAWAL_TOPIC] as const, data: data(amountOut) };
  const isUnwrapped = buy.address === NATIVE_TOKEN;
  return [...paid, isUnwrapped ? unwrapped : transfer(buy.address, [BACKTEST_CONTRACT, recipient], amountOut)];
}

/** What nobody asks in a backtest: an answer would be a guess. */
const absent = async (): Promise<never> => {
  throw new ChainReadError("not available", "a backtest has no chain to ask");
};

const ABSENT = {
  ...{ finalized: absent, block: absent, transactionCount: absent, receipt: absent, transactionsOf: absent },
  ...{ broadcast: absent, agreed: absent, submitEndpoints: absent, decimals: absent, call: absent, logs: absent },
  ...{ abilities: absent, permitFacts: absent, takesDelegatedPermit: absent },
} as const;
