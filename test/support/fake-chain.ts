import { Transaction } from "ethers";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { type Address, type Hex, NATIVE_TOKEN, parseAddress } from "../../src/domain/money/address.ts";
import type {
  AgreedChainReads,
  BlockHead,
  BlockTransaction,
  BroadcastOutcome,
  CallRequest,
  Chain,
  ChainLog,
  EndpointReport,
  PermitFacts,
  Receipt,
  SimulationOutcome,
  SimulationTerms,
} from "../../src/ports/chain.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { ETH, GWEI, RELAYER, ROUTER, USDC, WBTC, WETH } from "./builders.ts";
import { FakeLedger, type FakeOrder, FakeRevert, movesOf, SETTLEMENT } from "./fake-ledger.ts";
import { byteHash } from "./reading-samples.ts";
import { remembered } from "./remembered.ts";

const CHAIN_ID = 31_337;
const FINALITY = 4;
const FIRST_BLOCK = 100;
const GAS = 100_000n;

/** Recovering a sender costs more than all the rest of a block, and the same bytes always have the same one. */
export const readTransaction = remembered(
  (raw: string) => {
    const { from, to, nonce, hash, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = Transaction.from(raw);
    return { from, to, nonce, hash, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
  },
  (raw) => raw,
);

interface Block {
  readonly head: BlockHead;
  readonly receipts: readonly Receipt[];
  readonly ledger: FakeLedger;
}

interface Relayed {
  readonly order: FakeOrder;
  readonly permitValue: bigint | undefined;
}

/**
 * A chain in memory: blocks when the test mines them, receipts and logs of what was really executed, finality four
 * blocks deep, reorganisations on demand. Nothing that it answers is made up; it can only be silent.
 */
export class FakeChain implements Chain {
  readonly chainId = CHAIN_ID;
  /** raw transactions that nodes were given, in order, repeated ones too */
  readonly sent: Hex[] = [];
  /** true: no read is answered */
  isDown = false;
  /** true: no log is listed, as by a node whose index lags */
  hidesLogs = false;
  /** endpoints without whose logs it answers for all */
  unlistedBy: readonly string[] = [];
  /** true: no receipt is found */
  hidesReceipts = false;
  /** true: the relayer keeps what it was handed */
  holdsRelayed = false;
  /** whether tokens take permits of accounts that delegate */
  takesDelegated = true;
  /** code of accounts that have some */
  readonly codes = new Map<Address, Hex>([[ROUTER, "0x60"]]);
  /** tokens that take a permit */
  readonly permitTokens = new Set<Address>([USDC.address]);
  priority = GWEI / 10n;
  baseFee = GWEI;
  private readonly clock: Clock;
  private readonly blocks: Block[] = [];
  private pool = new Map<Hex, Hex>();
  private relayed: Relayed[] = [];
  private forks = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.blocks.push({ head: this.nextHead(FIRST_BLOCK), receipts: [], ledger: new FakeLedger() });
  }

  /** Changes the state of the newest block, as if it had always been so. */
  get ledger(): FakeLedger {
    return this.newest.ledger;
  }

  /** Puts everything that is waiting into a block of now. */
  mine(): void {
    const ledger = new FakeLedger(this.ledger.values);
    ledger.rate = this.ledger.rate;
    const head = this.nextHead(this.newest.head.number + 1);
    const receipts: Receipt[] = [];
    for (const [hash, raw] of this.waiting(ledger)) {
      this.pool.delete(hash);
      receipts.push(this.execute(ledger, head, { hash, raw }));
    }
    for (const swap of this.holdsRelayed ? [] : this.relayed.splice(0)) receipts.push(this.relay(ledger, head, swap));
    this.blocks.push({ head, receipts, ledger });
  }

  /** Hands a signed order to the relayer: it is executed in the next block, if it still can. */
  submitOrder(order: FakeOrder, permitValue: bigint | undefined): void {
    this.relayed.push({ order, permitValue });
  }

  /** The owner cancels a nonce in the newest block. */
  cancelNonce(owner: Address, nonce: bigint): void {
    const block = this.newest;
    const work = (ledger: FakeLedger) => [ledger.cancelNonce(owner, nonce)];
    const receipt = this.attempt(block.ledger, block.head, { hash: byteHash(8_000_000 + Number(nonce)), work });
    this.blocks.splice(-1, 1, { ...block, receipts: [...block.receipts, receipt] });
  }

  /** Somebody else's transaction moves tokens in the newest block: a spender who was allowed to, say. */
  takeAway({ token, ...move }: { token: Address; from: Address; to: Address; amount: bigint }): void {
    this.act(byteHash(9_000_000 + this.blocks.length), (ledger) => [ledger.move(token, move)]);
  }

  /** Somebody else's transaction in the newest block. */
  protected act(hash: Hex, work: (ledger: FakeLedger) => readonly Omit<ChainLog, "logIndex">[]): Receipt {
    const block = this.newest;
    const receipt = this.attempt(block.ledger, block.head, { hash, work });
    this.blocks.splice(-1, 1, { ...block, receipts: [...block.receipts, receipt] });
    return receipt;
  }

  /** Replaces the newest blocks by as many empty ones; what was in them is gone, as from a pool that forgot. */
  reorganise(depth: number): void {
    this.forks += 1;
    const removed = this.blocks.splice(-depth);
    const { ledger } = this.newest;
    for (const { head } of removed) {
      const forked = { ...head, hash: byteHash(head.number + this.forks * 1_000_000) };
      this.blocks.push({ head: forked, receipts: [], ledger: new FakeLedger(ledger.values) });
    }
  }

  async latest(_from?: number): Promise<BlockHead> {
    this.assertUp();
    return this.newest.head;
  }

  async finalized(): Promise<BlockHead> {
    this.assertUp();
    return this.blockAt(Math.max(FIRST_BLOCK, this.newest.head.number - FINALITY)).head;
  }

  async block(number: number): Promise<BlockHead | undefined> {
    this.assertUp();
    return this.blocks.find(({ head }) => head.number === number)?.head;
  }

  async transactionCount(address: Address, block: "latest" | number): Promise<number> {
    return this.stateAt(block === "latest" ? undefined : block).count(address);
  }

  async receipt(hash: Hex): Promise<Receipt | undefined> {
    this.assertUp();
    return this.hidesReceipts ? undefined : this.receipts().find((receipt) => receipt.hash === hash);
  }

  async transactionsOf(address: Address, block: number): Promise<readonly BlockTransaction[]> {
    const hashes = this.blockAt(block).receipts.map(({ hash }) => hash as string | null);
    return [...new Set(this.sent)]
      .map((raw) => readTransaction(raw))
      .filter(({ from, hash }) => parseAddress(from) === address && hashes.includes(hash))
      .map(({ hash, nonce, to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas }) => ({
        ...{ hash: hash as Hex, nonce, to: parseAddress(to), data: data as Hex, value, gasLimit },
        fees: { maxFeePerGas: maxFeePerGas ?? 0n, maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n },
      }));
  }

  /** Everything that is in the canonical chain. */
  receipts(): readonly Receipt[] {
    return this.blocks.flatMap(({ receipts }) => receipts);
  }

  async nativeBalance(address: Address): Promise<bigint> {
    return await this.balance(NATIVE_TOKEN, address);
  }

  async priorityFee(): Promise<bigint> {
    this.assertUp();
    return this.priority;
  }

  /** what lanes show to nobody goes to a relay that takes it and gives it to no block */
  visibility: Chain["visibility"] = "public";
  /** of what the relay takes: what it gives to no block */
  keeps: (raw: Hex) => boolean = () => true;
  /** what was given to that relay */
  readonly kept: Hex[] = [];

  async submitEndpoints(): Promise<[]> {
    return [];
  }

  async broadcast({ raw, visibility }: Parameters<Chain["broadcast"]>[0]): Promise<BroadcastOutcome> {
    if (visibility === "private") {
      this.kept.push(raw);
      if (this.keeps(raw)) return { kind: "accepted" };
    } else this.sent.push(raw);
    const hash = readTransaction(raw).hash as Hex;
    if (this.pool.has(hash)) return { kind: "known" };
    if (this.receipts().some((receipt) => receipt.hash === hash)) return { kind: "nonce-used" };
    this.pool.set(hash, raw);
    return { kind: "accepted" };
  }

  async balance(token: Address, owner: Address, block?: number): Promise<bigint> {
    return this.stateAt(block).balance(token, owner);
  }

  async allowance(grant: { token: Address; owner: Address; spender: Address }, block?: number): Promise<bigint> {
    return this.stateAt(block).allowance(grant.token, grant.owner, grant.spender);
  }

  async decimals(token: Address): Promise<number | undefined> {
    this.assertUp();
    return [USDC, WETH, WBTC].find(({ address }) => address === token)?.decimals;
  }

  async code(address: Address, _block?: number): Promise<Hex> {
    return this.codes.get(address) ?? "0x";
  }

  async takesDelegatedPermit(): Promise<boolean> {
    return this.takesDelegated;
  }

  async abilities(): Promise<readonly EndpointReport[]> {
    const findings = (["simulate", "trace", "probe", "finality", "overrides", "logs"] as const).map((ability) => {
      return { ability, state: "able" } as const;
    });
    return [{ host: "memory", findings }];
  }

  /** One endpoint always agrees with itself. */
  async agreed(): Promise<AgreedChainReads> {
    const latest = await this.latest();
    return {
      latest,
      finalized: () => this.finalized(),
      transactionCount: (address, block) => this.transactionCount(address, block),
      receipt: (hash) => this.receipt(hash),
      transactionsOf: (address, block) => this.transactionsOf(address, block),
      allowance: (grant, block) => this.allowance(grant, block),
      highestAllowance: (grant, block) => this.allowance(grant, block),
      balance: (token, owner, block) => this.balance(token, owner, block),
      call: (request, block) => this.call(request, block),
      code: (address, block) => this.code(address, block),
      logs: (filter) => this.logs(filter),
      unlistedBy: () => this.unlistedBy,
    };
  }

  async call(request: { to: Address; data: Hex }, block?: number): Promise<Hex | undefined> {
    const ledger = this.stateAt(block);
    if (request.to !== ROUTER) return undefined;
    const [owner, nonce] = SETTLEMENT.decodeFunctionData("isNonceUsed", request.data);
    const isUsed = ledger.isNonceUsed(parseAddress(owner) ?? ROUTER, nonce as bigint);
    return SETTLEMENT.encodeFunctionResult("isNonceUsed", [isUsed]) as Hex;
  }

  async logs(filter: Parameters<Chain["logs"]>[0]): ReturnType<Chain["logs"]> {
    this.assertUp();
    if (this.hidesLogs) return [];
    const inRange = ({ blockNumber }: Receipt): boolean =>
      blockNumber >= filter.fromBlock && blockNumber <= filter.toBlock;
    const fits = (log: ChainLog): boolean =>
      (filter.address === undefined || [filter.address].flat().includes(log.address)) &&
      filter.topics.every((topic, index) => topic === null || log.topics[index] === topic);
    return this.receipts()
      .filter(inRange)
      .flatMap(({ hash, blockNumber, logs }) =>
        logs.filter(fits).map((log) => ({ ...log, transactionHash: hash, blockNumber })),
      );
  }

  async simulate(calls: readonly CallRequest[], { assumed }: SimulationTerms = {}): Promise<SimulationOutcome> {
    const ledger = new FakeLedger(this.stateAt().values);
    if (assumed !== undefined) ledger.suppose(assumed);
    ledger.rate = this.ledger.rate;
    try {
      const logs = calls.flatMap((call) => ledger.execute(call, this.newest.head.timestamp));
      return {
        ...{ kind: "ok", way: "simulate", gasUsed: GAS * BigInt(calls.length), gasUsedByCall: calls.map(() => GAS) },
        ...movesOf(logs),
      };
    } catch (error) {
      if (error instanceof FakeRevert) return { kind: "reverted", way: "simulate", reason: error.message };
      throw error;
    }
  }

  async permitFacts(token: Address): Promise<PermitFacts | undefined> {
    this.assertUp();
    if (!this.permitTokens.has(token)) return undefined;
    return { domain: { name: "USD Coin", version: "2", chainId: CHAIN_ID, verifyingContract: token }, nonce: 0n };
  }

  protected get newest(): Block {
    return this.blockAt(this.blocks.at(-1)?.head.number ?? 0);
  }

  private blockAt(number: number): Block {
    const block = this.blocks.find(({ head }) => head.number === number);
    if (number < FIRST_BLOCK)
      throw new ChainReadError("refused", `nothing of before block ${FIRST_BLOCK} is kept here`);
    if (block === undefined) throw new ChainReadError("malformed answer", `there is no block ${number}`);
    return block;
  }

  protected stateAt(block?: number): FakeLedger {
    this.assertUp();
    return block === undefined ? this.ledger : this.blockAt(block).ledger;
  }

  private assertUp(): void {
    if (this.isDown) throw new ChainReadError("unreachable", "no node answered");
  }

  private nextHead(number: number): BlockHead {
    const timestamp = Math.floor(this.clock.nowMs() / 1_000);
    return { number, hash: byteHash(number + this.forks * 1_000_000), timestamp, baseFeePerGas: this.baseFee };
  }

  /** Transactions whose turn it is, account by account; the dearer one of two with the same nonce. */
  private waiting(ledger: FakeLedger): readonly [Hex, Hex][] {
    const next = new Map<string, [Hex, Hex]>();
    for (const [hash, raw] of this.pool) {
      const { from, nonce, maxFeePerGas } = readTransaction(raw);
      const account = parseAddress(from) ?? ROUTER;
      if (nonce !== ledger.count(account) || (maxFeePerGas ?? 0n) < this.baseFee) continue;
      next.set(account, [hash, raw]);
    }
    return [...next.values()];
  }

  private execute(ledger: FakeLedger, head: BlockHead, { hash, raw }: { hash: Hex; raw: Hex }): Receipt {
    const transaction = readTransaction(raw);
    const from = parseAddress(transaction.from) ?? ROUTER;
    const to = parseAddress(transaction.to) ?? ROUTER;
    ledger.countUp(from);
    ledger.credit(ETH.address, from, -GAS * this.baseFee);
    return this.attempt(ledger, head, {
      hash,
      work: (l) => l.execute({ from, to, data: transaction.data as Hex }, head.timestamp),
    });
  }

  private relay(ledger: FakeLedger, head: BlockHead, { order, permitValue }: Relayed): Receipt {
    const hash = byteHash(7_000_000 + Number(order.nonce % 1_000_000n));
    return this.attempt(ledger, head, {
      hash,
      work: (l) => {
        if (permitValue !== undefined) l.setAllowance(order.fromAsset, order.owner, permitValue);
        return l.settle(order, head.timestamp, RELAYER);
      },
    });
  }

  private attempt(
    ledger: FakeLedger,
    head: BlockHead,
    tried: { hash: Hex; work(ledger: FakeLedger): readonly Omit<ChainLog, "logIndex">[] },
  ): Receipt {
    const simulated = new FakeLedger(ledger.values);
    simulated.rate = ledger.rate;
    const receipt = { hash: tried.hash, blockNumber: head.number, blockHash: head.hash, gasUsed: GAS };
    try {
      const logs = tried.work(simulated).map((log, logIndex) => ({ ...log, logIndex }));
      for (const [key, value] of simulated.values) ledger.values.set(key, value);
      return { ...receipt, succeeded: true, effectiveGasPrice: this.baseFee, logs };
    } catch (error) {
      if (!(error instanceof FakeRevert)) throw error;
      return { ...receipt, succeeded: false, effectiveGasPrice: this.baseFee, logs: [] };
    }
  }
}
