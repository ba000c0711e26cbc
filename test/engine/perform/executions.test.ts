import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createProposalFolder } from "../../../src/adapters/proposals/folder.ts";
import { digestOf } from "../../../src/app/encoding.ts";
import { addressOnly } from "../../../src/app/open-secrets.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { approval } from "../../../src/domain/guard/approval.ts";
import type { Decoding } from "../../../src/domain/guard/decoded-swap.ts";
import { encodeMultiSend, type SafeCall } from "../../../src/domain/guard/multi-send.ts";
import { MARK_FACTORY, MARK_FACTORY_CODE, markCall } from "../../../src/domain/guard/once-mark.ts";
import { SAFE_CONTRACTS, type SafeVersion } from "../../../src/domain/guard/safe-contracts.ts";
import { safeTypedData } from "../../../src/domain/guard/safe-transaction.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { measureFill } from "../../../src/domain/run/measure-fill.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import type { EngineContext } from "../../../src/engine/engine-context.ts";
import { type ExecutionSeen, executionSeen } from "../../../src/engine/perform/executions.ts";
import { proposeSwap } from "../../../src/engine/perform/propose-swap.ts";
import { readSafe } from "../../../src/engine/perform/read-safe.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { Chain } from "../../../src/ports/chain.ts";
import { DEPLOYER } from "../../../src/sandbox/accounts.ts";
import { deployData, loadContract } from "../../../src/sandbox/artifacts.ts";
import { systemClock } from "../../service/support/system-clock.ts";
import { type BareAnvil, startBareAnvil } from "../../support/anvil.ts";
import { OTHER_ACCOUNT } from "../../support/bare-anvil.ts";
import { HUNDRED_USDC, POOL, ROUTER, swapSample } from "../../support/builders.ts";
import { CARRIED_VERSIONS, deploySafe, minedReceipt, ownersOfTestSafes, type TestSafe } from "../../support/safe.ts";

const TOKEN = loadContract("PermitToken");
const BOUGHT = 5n * 10n ** 16n;
let anvil: BareAnvil;
let chain: Chain;
let usdc: Address;
let weth: Address;

const ask = (method: string, params: readonly unknown[]): Promise<unknown> => anvil.rpc.call(method, ...params);

async function deployToken(symbol: string, decimals: number): Promise<Address> {
  const data = deployData(TOKEN, [symbol, symbol, decimals]);
  const hash = await ask("eth_sendTransaction", [{ from: DEPLOYER.address, data, gas: "0x989680" }]);
  const { contractAddress } = await minedReceipt(ask, hash);
  return toAddress(String(contractAddress));
}

beforeAll(async () => {
  anvil = await startBareAnvil();
  chain = createChain({ rpcUrls: [new Secret(anvil.rpcUrl)], chainId: 31_337 }, { clock: systemClock });
  [usdc, weth] = [await deployToken("USDC", 6), await deployToken("WETH", 18)];
}, 60_000);

afterAll(() => anvil?.stop());

const call = (to: Address, name: string, ...values: readonly unknown[]): SafeCall => ({
  ...{ to, value: 0n, data: TOKEN.abi.encodeFunctionData(name, values) as Hex },
});

/** What a swap does: it sells a hundred dollars to a pool, and brings the Safe something. */
function swapCalls({ address }: TestSafe, bought = BOUGHT, place = "run_1.0"): readonly SafeCall[] {
  const approve = (amount: bigint): SafeCall => ({ to: usdc, value: 0n, data: approval(ROUTER, amount) });
  const brought = call(weth, "transferFrom", DEPLOYER.address, address, bought);
  const exchange = [call(usdc, "transfer", POOL, HUNDRED_USDC), brought];
  return [markCall(address, place), approve(HUNDRED_USDC), ...exchange, approve(0n)];
}

let salt = 0n;

async function newSafe(version: SafeVersion): Promise<TestSafe> {
  salt += 1n;
  const safe = await deploySafe(ask, version, salt);
  const calls = [
    call(usdc, "mint", safe.address, 3n * HUNDRED_USDC),
    call(weth, "mint", DEPLOYER.address, 10n * BOUGHT),
    call(weth, "approve", safe.address, 10n * BOUGHT),
  ];
  for (const { to, data } of calls) {
    await minedReceipt(ask, await ask("eth_sendTransaction", [{ from: DEPLOYER.address, to, data }]));
  }
  return safe;
}

/** A swap as it was proposed: its hash is the one that owners sign. */
async function proposedTo(safe: TestSafe, isBoundToNonce: boolean): Promise<Swap> {
  const nonce = await safe.nonce();
  const built = { chainId: 31_337, safe: safe.address, version: safe.version, nonce, calls: swapCalls(safe) };
  const block = (await chain.latest()).number;
  return swapSample({
    ...{ state: "submitted", mode: "self-executed", wallet: safe.address, recipient: safe.address },
    sell: { symbol: "USDC", address: usdc, decimals: 6 },
    buy: { symbol: "WETH", address: weth, decimals: 18 },
    terms: {
      ...{ contracts: oneContract(ROUTER), amountOutMin: BOUGHT, swapFee: 0n, affiliateFee: 0n },
      ...{ deadlineSeconds: 2_000_000_000, nonce: undefined, fromBlock: block + 1 },
    },
    signatures: {
      ...{ swapDigest: digestOf(safeTypedData(built)), swapSignature: undefined, permitDigest: undefined },
      ...{ permitSignature: undefined, permitDeadlineSeconds: undefined },
    },
    proposal: { version: safe.version, nonce, isBoundToNonce, since: { block, nonce } },
  });
}

/** Transactions that are the fills of other swaps, by the rows. */
const ofOthers = new Set<Hex>();
const read = async () => ({ ofOthers, accepted: new Set() });
const context = {
  settings: { wrappedNative: NATIVE_TOKEN },
  deps: { store: { read } },
} as unknown as EngineContext;

async function look(swap: Swap, reads: Pick<Chain, "logs" | "call" | "receipt"> = chain): Promise<ExecutionSeen> {
  const range = { fromBlock: swap.terms?.fromBlock ?? 0, toBlock: (await chain.latest()).number };
  return await executionSeen(context, swap, { reads, range, finalized: (await chain.finalized()).number });
}

test("the factory of marks is the code that is pinned", async () => {
  expect(await chain.code(MARK_FACTORY)).toBe(MARK_FACTORY_CODE);
});

const settle = async (): Promise<void> => void (await ask("anvil_mine", ["0x5"]));

describe.each(CARRIED_VERSIONS)("a proposal to a Safe %s of real bytecode", (version) => {
  test("is the fill of its swap where its owners executed it", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: false });
    const { status, transactionHash } = await safe.execute(safe.batch(swapCalls(safe)));
    expect(status).toBe("0x1");
    expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash, succeeded: true } });
  });

  test("that owners rejected is cancelled once that is final", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    await safe.reject();
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: undefined });
    await settle();
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: true });
  });

  test("shares its nonce with the one that replaces it: only one of them is ever executed", async () => {
    const safe = await newSafe(version);
    const old = await proposedTo(safe, true);
    const oldCalldata = await safe.executionOf(safe.batch(swapCalls(safe)));
    await safe.execute(safe.batch(swapCalls(safe, 2n * BOUGHT)));
    await settle();
    const from = DEPLOYER.address;
    const hash = await ask("eth_sendTransaction", [{ from, to: safe.address, data: oldCalldata, gas: "0x989680" }]);
    expect(await minedReceipt(ask, hash)).toMatchObject({ status: "0x0" });
    // Of one place one swap is open at a time: whichever it is, the place has sold.
    expect(await look(old)).toMatchObject({ fill: { succeeded: true } });
  });

  test("of which a call fails does nothing, and may still be executed", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    const calls = [...swapCalls(safe), call(usdc, "transfer", POOL, 10n ** 18n)];
    expect(await safe.execute(safe.batch(calls))).toMatchObject({ status: "0x0" });
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: false });
    await safe.execute(safe.batch(swapCalls(safe)));
    expect(await look(swap)).toMatchObject({ fill: { succeeded: true } });
  });

  test("is not believed away while a node hides an event: nonce and events are counted against each other", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    await safe.execute(safe.batch(swapCalls(safe)));
    await settle();
    const hiding = { call: chain.call, receipt: chain.receipt, logs: async () => [] };
    await expect(look(swap, hiding)).rejects.toThrow("counts 1 executions since block");
  });

  test.each([false, true])(
    "counts under another nonce, by what it exchanged (bound to its own: %s)",
    async (isBound) => {
      const safe = await newSafe(version);
      const swap = await proposedTo(safe, isBound);
      await safe.reject();
      expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: undefined });
      const { transactionHash } = await safe.execute(safe.batch(swapCalls(safe)));
      await settle();
      expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash } });
    },
  );

  test("counts under an earlier nonce, too, while its own is still to come", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    const later = { ...swap, proposal: swap.proposal && { ...swap.proposal, nonce: swap.proposal.nonce + 5n } };
    const queued = {
      ...later,
      signatures: swap.signatures && { ...swap.signatures, swapDigest: `0x${"5".repeat(64)}` },
    };
    expect(await look(queued as Swap)).toEqual({ fill: undefined, nonceUsed: false });
    const { transactionHash } = await safe.execute(safe.batch(swapCalls(safe)));
    expect(await look(queued as Swap)).toMatchObject({ fill: { hash: transactionHash } });
  });

  test.each([false, true])("counts where owners put more into its batch (bound to its nonce: %s)", async (isBound) => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, isBound);
    const payment = call(usdc, "transfer", DEPLOYER.address, 1n);
    const { status, transactionHash } = await safe.execute(safe.batch([...swapCalls(safe), payment]));
    await settle();
    expect(status).toBe("0x1");
    expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash } });
  });

  test.each([false, true])("counts where a module executed it for them (bound to its nonce: %s)", async (isBound) => {
    const safe = await newSafe(version);
    await safe.enableModule(DEPLOYER.address);
    const swap = await proposedTo(safe, isBound);
    await safe.executeByModule(DEPLOYER.address, safe.batch([call(usdc, "transfer", POOL, 7n)]));
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: isBound ? false : undefined });
    const { status, transactionHash } = await safe.executeByModule(DEPLOYER.address, safe.batch(swapCalls(safe)));
    await safe.executeByModule(DEPLOYER.address, safe.batch([call(usdc, "transfer", POOL, 8n)]));
    expect([status, await safe.nonce()]).toEqual(["0x1", swap.proposal?.nonce]);
    expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash } });
    await safe.reject();
    await settle();
    expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash } });
  });

  test("is measured by itself where owners execute all of their queue at once", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    const wages = safe.batch([call(usdc, "transfer", DEPLOYER.address, HUNDRED_USDC / 2n)], 1n);
    const queue = await Promise.all([safe.batch(swapCalls(safe), 0n), wages].map((one) => safe.executionOf(one)));
    const data = encodeMultiSend(queue.map((execution) => ({ to: safe.address, value: 0n, data: execution })));
    const to = SAFE_CONTRACTS[version].multiSendCallOnly;
    const hash = await ask("eth_sendTransaction", [{ from: DEPLOYER.address, to, data, gas: "0x989680" }]);
    expect(await minedReceipt(ask, hash)).toMatchObject({ status: "0x1" });
    const { fill } = await look(swap);
    if (fill === undefined) throw new Error("the fill is not seen");
    const measured = measureFill(fill, swap, { wrapped: NATIVE_TOKEN, value: 0n });
    expect(measured).toMatchObject({ sold: HUNDRED_USDC, bought: BOUGHT, hash });
  });

  test("does not count where a stranger made its mark", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    const [mark] = swapCalls(safe);
    const from = DEPLOYER.address;
    await minedReceipt(ask, await ask("eth_sendTransaction", [{ from, to: mark?.to, data: mark?.data }]));
    await safe.reject();
    await settle();
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: true });
  });

  test("is not the fill of another slot that exchanged as much, where a stranger made its mark", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, true);
    const other = await safe.execute(safe.batch(swapCalls(safe, BOUGHT, "run_2.0")));
    const [mark] = swapCalls(safe);
    const from = DEPLOYER.address;
    await minedReceipt(ask, await ask("eth_sendTransaction", [{ from, to: mark?.to, data: mark?.data }]));
    await settle();
    ofOthers.add(other.transactionHash as Hex);
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: true });
  });

  test("is not what a module executed of another slot in the block in which a stranger made its mark", async () => {
    const safe = await newSafe(version);
    await safe.enableModule(DEPLOYER.address);
    const swap = await proposedTo(safe, true);
    const [mark] = swapCalls(safe);
    await ask("evm_setAutomine", [false]);
    const stranger = { from: OTHER_ACCOUNT, to: mark?.to, data: mark?.data };
    const marked = await ask("eth_sendTransaction", [stranger]);
    const executed = safe.executeByModule(DEPLOYER.address, safe.batch(swapCalls(safe, BOUGHT, "run_2.0")));
    const both = { pending: "0x2", queued: "0x0" };
    await vi.waitFor(async () => expect(await ask("txpool_status", [])).toEqual(both), 5_000);
    await ask("evm_mine", []);
    await ask("evm_setAutomine", [true]);
    await minedReceipt(ask, marked);
    const other = await executed;
    await settle();
    expect(await look(swap)).toMatchObject({ fill: { hash: other.transactionHash } });
    ofOthers.add(other.transactionHash as Hex);
    expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: false });
  });

  test.each([false, true])(
    "is none of another place that exchanged as much (bound to its nonce: %s)",
    async (isBound) => {
      const safe = await newSafe(version);
      const swap = await proposedTo(safe, isBound);
      await safe.execute(safe.batch(swapCalls(safe, BOUGHT, "run_2.0")));
      await settle();
      expect(await look(swap)).toEqual({ fill: undefined, nonceUsed: isBound ? true : undefined });
      const { transactionHash } = await safe.execute(safe.batch(swapCalls(safe)));
      expect(await look(swap)).toMatchObject({ fill: { hash: transactionHash } });
    },
  );

  test("of a file is executed once, with whatever nonce, and what owners do besides is none of it", async () => {
    const safe = await newSafe(version);
    const swap = await proposedTo(safe, false);
    const first = await safe.execute(safe.batch(swapCalls(safe)));
    await safe.execute({ ...safe.batch([call(usdc, "transfer", POOL, 7n)]) });
    const again = await safe.execute(safe.batch(swapCalls(safe)));
    expect([first.status, again.status]).toEqual(["0x1", "0x0"]);
    expect(await look(swap)).toMatchObject({ fill: { hash: first.transactionHash } });
  });

  test("and another one of the same slot share a place: whatever their nonces, only one of them is ever executed", async () => {
    const safe = await newSafe(version);
    const old = await proposedTo(safe, false);
    const newer = swapCalls(safe, 2n * BOUGHT);
    expect(await safe.execute(safe.batch(newer))).toMatchObject({ status: "0x1" });
    expect(await safe.execute(safe.batch(swapCalls(safe)))).toMatchObject({ status: "0x0" });
    expect(await safe.nonce()).toBe((old.proposal?.nonce ?? 0n) + 1n);
    const another = swapCalls(safe, BOUGHT, "run_2.0");
    expect(await safe.execute(safe.batch(another))).toMatchObject({ status: "0x1" });
  });

  test("is known by its version, and an account that only says so is not", async () => {
    const safe = await newSafe(version);
    const { number } = await chain.latest();
    expect(await readSafe(chain, safe.address, number)).toEqual({ kind: "known", version, nonce: 0n });
    expect(await readSafe(chain, DEPLOYER.address, number)).toMatchObject({ kind: "unknown" });
    expect(await readSafe(chain, usdc, number)).toMatchObject({ kind: "unknown" });
  });
});

describe("nothing is proposed", () => {
  const contracts = [
    ["the factory of marks", MARK_FACTORY],
    ["the contract that makes a proposal's calls", SAFE_CONTRACTS["1.3.0"].multiSendCallOnly],
  ] as const;

  async function build(safe: TestSafe, proposer?: Address) {
    const folder = createProposalFolder({ safe: safe.address, folder: "/nowhere" }, { clock: systemClock });
    const treasury = { ...folder, proposer: proposer && addressOnly(proposer) };
    const swap = swapSample({ wallet: safe.address });
    const decoding = { ok: false, problem: "not asked" } as unknown as Decoding;
    const of = { swap, gross: 1n, transaction: undefined, decoding, allowance: 0n, head: await chain.latest() };
    return (await proposeSwap({ ...context, deps: { chain } } as unknown as EngineContext, treasury, of)).proposal;
  }

  test.each(contracts)("where %s does not stand: a call of nothing succeeds", async (_what, missing) => {
    const safe = await newSafe("1.3.0");
    await settle();
    expect(await build(safe)).toMatchObject({ kind: "built", nonce: 0n });
    const code = await ask("eth_getCode", [missing, "latest"]);
    await ask("anvil_setCode", [missing, "0x"]);
    await settle();
    const problem = expect.stringContaining("does not stand");
    expect(await build(safe)).toMatchObject({ kind: "unknown-safe", problem });
    await ask("anvil_setCode", [missing, code]);
  });

  test("by a delegate that is an owner of the Safe: its signature would count", async () => {
    const safe = await newSafe("1.4.1");
    await settle();
    const [owner] = ownersOfTestSafes();
    const problem = expect.stringContaining("is an owner of the Safe");
    expect(await build(safe, owner)).toMatchObject({ kind: "unknown-safe", problem });
    expect(await build(safe, DEPLOYER.address)).toMatchObject({ kind: "built" });
  });
});
