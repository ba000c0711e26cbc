import { AbiCoder, Transaction } from "ethers";
import { beforeEach, describe, expect, test } from "vitest";
import { createPaperBook, LENT_WEI, type PaperAccount } from "../../../src/adapters/paper/paper-book.ts";
import { paperSigner } from "../../../src/adapters/paper/paper-bytes.ts";
import { type ChainToRead, createPaperChain } from "../../../src/adapters/paper/paper-chain.ts";
import { openFleetingPaper } from "../../../src/adapters/sqlite/paper/open-paper-rows.ts";
import { createDataFee, type DataFeeKind } from "../../../src/chain/data-fee.ts";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import type { DecodedSwap } from "../../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { IMPACT_LASTS_SECONDS } from "../../../src/domain/paper/own-impact.ts";
import type { BlockHead, CallRequest, Chain, SimulationOutcome, SimulationTerms } from "../../../src/ports/chain.ts";
import type { PaperRows } from "../../../src/ports/paper.ts";
import type { SwapService } from "../../../src/ports/swap-service.ts";
import { ETH, GWEI, HUNDRED_USDC, ROUTER, USDC, WALLET, WETH } from "../../support/builders.ts";
import { byteHash } from "../../support/reading-samples.ts";

const CHAIN_ID = 31_337;
const SPENDER = ROUTER;
const MINIMUM = 95n;
const SWAP_DATA: Hex = "0x5ac0";
const GAS = 100_000n;
/** of block 200 */
const DEADLINE = 1_700_002_400n;

/** A pool of one price that a test moves, on a chain that mines when the test says so. It cannot be sent anything. */
class Market {
  head: BlockHead = blockOf(100, 0);
  readonly replaced = new Map<number, number>();
  bought = 100n;
  /** what a second swap right after the first would bring less, in hundredths */
  movedPercent = 0n;
  simulations = 0;
  state: "able" | "unable" | "down" = "able";
  /** what a rollup's own contract says of the fees of a transaction, by the function that is asked; none: it has no such function */
  readonly dataFees = new Map<string, bigint>();
  readonly askedFees: string[] = [];

  mine(blocks = 1): void {
    for (let count = 0; count < blocks; count += 1) this.head = blockOf(this.head.number + 1, 0);
  }

  /** The newest block is another one. */
  reorganise(): void {
    this.replaced.set(this.head.number, 1);
    this.head = blockOf(this.head.number, 1);
  }

  async simulate(calls: readonly CallRequest[], about: SimulationTerms = {}): Promise<SimulationOutcome> {
    this.simulations += 1;
    if (this.state === "down") throw new ChainReadError("unreachable", "no RPC endpoint answers");
    if (this.state === "unable") return { kind: "unavailable", reason: "no word of storage could be proved" };
    const held = about.assumed?.balances.find(({ token }) => token === USDC.address)?.amount ?? 0n;
    const swaps = calls.filter(({ data }) => data === SWAP_DATA).length;
    if (held < HUNDRED_USDC * BigInt(swaps)) return { kind: "reverted", way: "simulate", reason: "too little balance" };
    const transfers = calls.flatMap(({ data }, index) => {
      if (data !== SWAP_DATA) return [];
      const amount = index === 0 ? this.bought : (this.bought * (100n - this.movedPercent)) / 100n;
      return [
        { token: USDC.address, from: WALLET, to: ROUTER, amount: HUNDRED_USDC },
        { token: WETH.address, from: ROUTER, to: recipient, amount },
      ];
    });
    const gasUsed = GAS * BigInt(calls.length);
    return { kind: "ok", way: "simulate", gasUsed, gasUsedByCall: calls.map(() => GAS), transfers, approvals: [] };
  }

  chain(): ChainToRead {
    const never = async (): Promise<never> => {
      throw new Error("the test's chain does not answer this");
    };
    return {
      chainId: CHAIN_ID,
      visibility: "public",
      latest: async () => this.head,
      finalized: async () => this.head,
      block: async (number) =>
        number > this.head.number ? undefined : blockOf(number, this.replaced.get(number) ?? 0),
      simulate: (calls, about) => this.simulate(calls, about),
      ...{ transactionCount: async () => 7, receipt: async () => undefined, transactionsOf: async () => [] },
      ...{
        nativeBalance: async () => 5n,
        balance: async () => 5n,
        allowance: async () => 5n,
        code: async () => "0xef",
      },
      priorityFee: async () => GWEI,
      ...{ agreed: never, decimals: never, logs: never, abilities: never },
      call: async ({ data }) => {
        this.askedFees.push(data);
        const fee = this.dataFees.get(data.slice(0, 10));
        return fee === undefined ? undefined : `0x${fee.toString(16).padStart(64, "0")}`;
      },
      ...{ permitFacts: never, takesDelegatedPermit: never },
    };
  }
}

function blockOf(number: number, fork: number): BlockHead {
  return {
    number,
    hash: byteHash(1_000 * fork + number),
    timestamp: 1_700_000_000 + 12 * number,
    baseFeePerGas: 10n * GWEI,
  };
}

const service = {
  profile: {
    decodeTransaction: ({ data }: { readonly data: Hex }) =>
      data === SWAP_DATA
        ? {
            ok: true,
            swap: {
              ...{
                contracts: {},
                sender: undefined,
                recipient,
                fromAsset: USDC.address,
                toAsset: WETH.address,
              },
              ...{ deadline: DEADLINE, amountOutMin: MINIMUM, swapFee: 0n, nonce: undefined, permitValue: undefined },
              ...{ amountIn: HUNDRED_USDC - (affiliate?.fee ?? 0n), affiliate },
            },
          }
        : { ok: false, problem: "no swap" },
  },
  quote: async ({ amount }: { readonly amount: bigint }) => ({ amountOut: (97n * amount) / HUNDRED_USDC }),
} as unknown as SwapService;

const SAFE = toAddress(`0x${"5".repeat(40)}`);

let recipient: Address = WALLET;
let affiliate: DecodedSwap["affiliate"];
let market: Market;
let rows: PaperRows;
let chain: Chain;

/** The same rows with a new chain on top: what a start after a kill finds. */
function restart(
  amounts: ReadonlyMap<Address, bigint> | undefined,
  kind?: DataFeeKind,
  further: readonly PaperAccount[] = [],
): Chain {
  const real = market.chain();
  const known = [USDC, WETH, ETH];
  const book = createPaperBook({
    accounts: [{ address: WALLET, amounts }, ...further],
    recipients: [WALLET, SAFE],
    tokens: known.map(({ address }) => address),
    ...{ spenders: [SPENDER], rows, chain: real },
  });
  const pinned = { chainId: CHAIN_ID, contracts: oneContract(SPENDER), wrappedNative: WETH.address };
  return createPaperChain({
    ...{ chain: real, rows, book, service: () => service, pinned, dataFee: createDataFee(real, kind) },
    tokenOf: (address) => known.find((token) => token.address === address),
  });
}

beforeEach(() => {
  [recipient, affiliate] = [WALLET, undefined];
  market = new Market();
  rows = openFleetingPaper();
  chain = restart(new Map([[USDC.address, 5n * HUNDRED_USDC]]));
});

async function send(nonce: number, fields: { to?: Address; data?: Hex; maxFeePerGas?: bigint } = {}): Promise<Hex> {
  const { raw, hash } = await paperSigner(WALLET).signTransaction({
    ...{ chainId: CHAIN_ID, nonce, to: ROUTER, data: SWAP_DATA, value: 0n, gasLimit: 170_000n },
    ...{ maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: GWEI, ...fields },
  });
  await chain.broadcast({ raw, visibility: "public" });
  return hash;
}

const balances = () => Promise.all([USDC, WETH].map(({ address }) => chain.balance(address, WALLET)));

describe("a transaction on paper", () => {
  test("is judged at a later block than the one after which it was sent, with what that block says", async () => {
    const hash = await send(0);
    expect(await chain.receipt(hash)).toBeUndefined();
    market.bought = 99n;
    market.mine();
    const receipt = await chain.receipt(hash);
    expect(receipt).toMatchObject({ blockNumber: 101, blockHash: blockOf(101, 0).hash, succeeded: true });
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 99n]);
    expect(await chain.transactionCount(WALLET, "latest")).toBe(1);
    expect(await chain.transactionCount(WALLET, 100)).toBe(0);
    expect(await chain.balance(USDC.address, WALLET, 100)).toBe(5n * HUNDRED_USDC);
  });

  test("below its minimum it does not fill, and fills at a block that gives it", async () => {
    market.bought = MINIMUM - 1n;
    const hash = await send(0);
    market.mine(3);
    expect(await chain.receipt(hash)).toBeUndefined();
    expect(await balances()).toEqual([5n * HUNDRED_USDC, 0n]);
    market.bought = MINIMUM;
    market.mine();
    expect((await chain.receipt(hash))?.blockNumber).toBe(104);
  });

  test("is not filled below its fee, and its nonce is free for a version that pays more or for a cancellation", async () => {
    const low = await send(0, { maxFeePerGas: 9n * GWEI });
    market.mine();
    expect(await chain.receipt(low)).toBeUndefined();
    const cancel = await send(0, { to: WALLET, data: "0x" });
    market.mine();
    expect((await chain.receipt(cancel))?.gasUsed).toBe(21_000n);
    expect(await chain.receipt(low)).toBeUndefined();
    expect(await balances()).toEqual([5n * HUNDRED_USDC, 0n]);
    expect(await chain.nativeBalance(WALLET)).toBe(LENT_WEI - 21_000n * 11n * GWEI);
  });

  test("charges gas to what it is lent where no native coin is listed, and keeps nothing from trading", async () => {
    await send(0);
    market.mine();
    await chain.receipt(rows.waiting(WALLET)[0]?.hash ?? "0x");
    expect(await chain.nativeBalance(WALLET)).toBe(LENT_WEI - GAS * 11n * GWEI);
    expect(rows.holding({ account: WALLET, token: NATIVE_TOKEN })).toBe(-GAS * 11n * GWEI);
  });

  test("on a rollup pays what its chain says that its data costs, on top of its gas", async () => {
    chain = restart(new Map([[USDC.address, 5n * HUNDRED_USDC]]), "op-stack");
    const gas = GAS * 11n * GWEI;
    const spent = async () => LENT_WEI - (await chain.nativeBalance(WALLET));
    const filled = async (nonce: number) => {
      const hash = await send(nonce);
      market.mine();
      return (await chain.receipt(hash))?.dataFee;
    };
    // as on a chain before its upgrade: it knows of no operator's fee
    market.dataFees.set("0x49948e0e", 7_000n);
    expect([await filled(0), await spent()]).toEqual([7_000n, gas + 7_000n]);
    market.dataFees.set("0x275aedd2", 11n);
    expect([await filled(1), await spent()]).toEqual([7_011n, 2n * gas + 14_011n]);
    const [bytes = "", ofGas = ""] = market.askedFees.slice(-2).map((data) => `0x${data.slice(10)}`);
    const [unsigned] = AbiCoder.defaultAbiCoder().decode(["bytes"], bytes);
    const read = Transaction.from(unsigned);
    expect([read.to?.toLowerCase(), read.data, read.nonce, read.signature]).toEqual([ROUTER, SWAP_DATA, 1, null]);
    expect(BigInt(ofGas)).toBe(GAS);
    market.dataFees.clear();
    await expect(filled(2)).rejects.toThrow("does not say what data costs (getL1Fee): correct rpc, or dataFee");
    expect(await spent()).toBe(2n * gas + 14_011n);
  });

  test("REB-34 what it brings somebody who may be paid comes on top of what the chain says, and is lost with its block", async () => {
    recipient = SAFE;
    await send(0);
    market.mine();
    await chain.receipt(rows.waiting(WALLET)[0]?.hash ?? "0x");
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 0n]);
    const there = (block?: number) => chain.balance(WETH.address, SAFE, block);
    expect([await there(), await there(101), await there(100)]).toEqual([105n, 105n, 5n]);
    // A start finds it, and what somebody else holds is no account on paper.
    chain = restart(new Map([[USDC.address, 5n * HUNDRED_USDC]]));
    expect([await there(), await chain.code(SAFE)]).toEqual([105n, "0xef"]);
    rows.takeBack(101);
    expect(await there()).toBe(5n);
  });

  test("an approval is on paper alone, and a swap uses it up", async () => {
    const data = `0x095ea7b3${AbiCoder.defaultAbiCoder().encode(["address", "uint256"], [SPENDER, HUNDRED_USDC]).slice(2)}`;
    const approval = await send(0, { to: USDC.address, data: data as Hex });
    market.mine();
    await chain.receipt(approval);
    const grant = { token: USDC.address, owner: WALLET, spender: SPENDER };
    expect(await chain.allowance(grant)).toBe(HUNDRED_USDC);
    const swap = await send(1);
    market.mine();
    await chain.receipt(swap);
    expect(await chain.allowance(grant)).toBe(0n);
  });

  test("sent twice, or read after a kill, it is filled once", async () => {
    const hash = await send(0);
    await send(0);
    market.mine();
    chain = restart(new Map([[USDC.address, 5n * HUNDRED_USDC]]));
    const [one, other] = await Promise.all([chain.receipt(hash), chain.receipt(hash)]);
    expect(one).toEqual(other);
    chain = restart(new Map([[USDC.address, 5n * HUNDRED_USDC]]));
    await chain.receipt(hash);
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 100n]);
  });

  test("a block that was taken back takes its fill with it, which is judged anew", async () => {
    const hash = await send(0);
    market.mine();
    await chain.receipt(hash);
    market.reorganise();
    expect(await chain.receipt(hash)).toBeUndefined();
    expect(await balances()).toEqual([5n * HUNDRED_USDC, 0n]);
    market.bought = 98n;
    expect((await chain.receipt(hash))?.blockHash).toBe(blockOf(101, 1).hash);
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 98n]);
  });

  test("where no node can simulate it, a fresh quote of that block is its fill", async () => {
    market.state = "unable";
    const hash = await send(0);
    market.mine();
    await chain.receipt(hash);
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 97n]);
  });

  test("where no node can simulate it, an affiliate's fee is no part of what is exchanged", async () => {
    market.state = "unable";
    affiliate = { address: SAFE, fee: HUNDRED_USDC / 97n };
    const hash = await send(0);
    market.mine();
    await chain.receipt(hash);
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 96n]);
  });

  test("where no node can simulate it, no quote fills it after its deadline", async () => {
    market.state = "unable";
    const hash = await send(0);
    market.mine(101);
    // Each look judges some of the blocks; the last one judges the newest.
    for (let look = 0; look < 10; look += 1) expect(await chain.receipt(hash)).toBeUndefined();
    expect(rows.transaction(hash)?.judgedBlock).toBe(market.head.number);
    expect(await balances()).toEqual([5n * HUNDRED_USDC, 0n]);
  });

  test("what the service of now cannot read, as after its contract was changed, waits for its cancellation", async () => {
    const unread = await send(0, { data: "0x0123" });
    market.mine();
    expect(await chain.receipt(unread)).toBeUndefined();
    const cancel = await send(0, { to: WALLET, data: "0x" });
    market.mine();
    expect((await chain.receipt(cancel))?.succeeded).toBe(true);
    expect(await chain.receipt(unread)).toBeUndefined();
  });

  test("a node that does not answer keeps it waiting, and it is filled afterwards", async () => {
    const hash = await send(0);
    market.mine();
    market.state = "down";
    await expect(chain.receipt(hash)).rejects.toThrow(ChainReadError);
    market.state = "able";
    expect((await chain.receipt(hash))?.blockNumber).toBe(101);
  });
});

describe("what an account begins with", () => {
  const listed = new Map([[USDC.address, 5n * HUNDRED_USDC]]);
  const withCoin = (wei: bigint): ReadonlyMap<Address, bigint> => new Map([...listed, [NATIVE_TOKEN, wei]]);
  const spent = GAS * 11n * GWEI;
  const filled = async (nonce: number) => {
    const hash = await send(nonce);
    market.mine();
    await chain.receipt(hash);
  };

  test("one that was lent its gas has the native coin from when it is listed, once, and keeps what it spent in its total", async () => {
    await filled(0);
    for (const wei of [3n * spent, 3n * spent, 9n * spent]) {
      chain = restart(withCoin(wei));
      expect(await chain.nativeBalance(WALLET)).toBe(3n * spent);
    }
    expect(rows.starts(WALLET).find(({ token }) => token === NATIVE_TOKEN)?.amount).toBe(4n * spent);
    expect(await balances()).toEqual([4n * HUNDRED_USDC, 100n]);
    await filled(1);
    expect(await chain.nativeBalance(WALLET)).toBe(2n * spent);
    rows.takeBack(101);
    expect(await chain.nativeBalance(WALLET)).toBe(4n * spent);
  });

  test("another amount of what it began with changes nothing, and neither does one of another token", async () => {
    chain = restart(withCoin(7n));
    expect(await chain.nativeBalance(WALLET)).toBe(7n);
    chain = restart(new Map([...listed, [NATIVE_TOKEN, 8n], [WETH.address, 50n]]));
    expect([await chain.nativeBalance(WALLET), ...(await balances())]).toEqual([7n, 5n * HUNDRED_USDC, 0n]);
  });

  test.each([
    ["what its account holds", undefined, 5n],
    ["what it lists", new Map([[WETH.address, 20n]]), 20n],
  ])("somebody who was paid and becomes a wallet has %s, on top of what swaps brought", async (_, amounts, own) => {
    recipient = SAFE;
    await filled(0);
    expect(await chain.balance(WETH.address, SAFE)).toBe(105n);
    for (let start = 0; start < 2; start += 1) {
      chain = restart(listed, undefined, [{ address: SAFE, amounts }]);
      expect(await chain.balance(WETH.address, SAFE)).toBe(own + 100n);
    }
  });
});

describe("the own impact on paper", () => {
  test("a second fill of the pair does not see the pool as if there had been no first one", async () => {
    market.movedPercent = 4n;
    const first = await send(0);
    market.mine();
    await chain.receipt(first);
    const second = await send(1);
    market.mine();
    await chain.receipt(second);
    const [, bought = 0n] = await balances();
    // 4 % at once, and a little less a block later.
    expect(bought).toBe(100n + 96n);
  });

  test("is gone after its time", async () => {
    market.movedPercent = 4n;
    await chain.receipt(await send(0));
    market.mine();
    const [first] = rows.waiting(WALLET);
    await chain.receipt(first?.hash ?? "0x");
    market.mine(Math.ceil(IMPACT_LASTS_SECONDS / 12));
    const second = await send(1);
    market.mine();
    await chain.receipt(second);
    expect((await balances())[1]).toBe(200n);
  });
});

describe("nothing is signed or sent on paper", () => {
  test("an account on paper signs no order", async () => {
    await expect(
      paperSigner(WALLET).signTypedData({ domain: {}, types: {}, primaryType: "Order", message: {} }),
    ).rejects.toThrow("asked for a signature");
  });

  test("bytes of a real transaction are refused, whoever made them", async () => {
    await expect(chain.broadcast({ raw: "0x02f8", visibility: "public" })).rejects.toThrow("bytes that were signed");
  });

  test("what is written down is no transaction that a chain knows", async () => {
    const { raw } = await paperSigner(WALLET).signTransaction({
      ...{ chainId: CHAIN_ID, nonce: 0, to: ROUTER, data: SWAP_DATA, value: 0n, gasLimit: 1n },
      ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    });
    expect(raw.slice(0, 4)).toBe("0x70");
  });

  test("the real account is untouched by what happens on paper, and the other way round", async () => {
    chain = restart(undefined);
    await send(0);
    // Watched, it began with the five units that the chain says.
    expect(await chain.balance(USDC.address, WALLET)).toBe(5n);
    expect(await chain.transactionCount(WALLET, "latest")).toBe(0);
    expect(await chain.transactionCount(ROUTER, "latest")).toBe(7);
    expect(await chain.code(WALLET)).toBe("0x");
    expect(await chain.allowance({ token: USDC.address, owner: WALLET, spender: SPENDER })).toBe(0n);
  });
});
