import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicRoutersProfile } from "../../../src/adapters/swap-service/public-routers/service.ts";
import { createChain } from "../../../src/chain/chain.ts";
import type { DecodedSwap } from "../../../src/domain/guard/decoded-swap.ts";
import { checkSimulation } from "../../../src/domain/guard/simulation.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { CallRequest, Chain, SimulationOutcome } from "../../../src/ports/chain.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import { startTestChain, type TestChain } from "../../service/support/chain.ts";
import { deployMarket, type Market } from "../../service/support/market.ts";
import { deploySwapRouter, loadSwapRouter } from "../../service/support/public-router.ts";
import { systemClock } from "../../service/support/system-clock.ts";
import { balanceOf } from "../../service/support/wallet.ts";
import { compiledMintingCoin } from "./minting-coin.ts";

const TOKEN = loadContract("PermitToken").abi;
/** Everything is encoded by the router's own interface. */
const ABI = loadSwapRouter().abi;
const CUSTODY = `0x${"0".repeat(39)}2`;
const SWEEP = "sweepToken(address,uint256,address)";
const UNWRAP = "unwrapWETH9(uint256,address)";
const E18 = 10n ** 18n;
const E6 = 10n ** 6n;

/** A router with the coin that it wraps. */
interface Place {
  readonly router: Address;
  readonly weth: Address;
}

let chain: TestChain;
let market: Market;
let usual: Place;
/** where wrapping is shown by transfers, as on Arbitrum */
let minting: Place;
let trying: Readonly<Record<SimulationMethod, Chain>>;
let recipients = 0;

beforeAll(async () => {
  chain = await startTestChain(["--gas-price", "0", "--base-fee", "0"]);
  market = await deployMarket(chain);
  const { usdc, weth, orphan } = market;
  usual = { router: await deploySwapRouter(chain, market), weth };
  const minted = await chain.deploy(compiledMintingCoin());
  await chain.send({ to: minted, data: "0xd0e30db0", value: 100n * E18 });
  await market.approve(minted, market.minter);
  await market.newPair(minted, usdc, { amountA: 50n * E18, amountB: 150_000n * E6 });
  minting = { router: await deploySwapRouter(chain, { ...market, weth: minted }), weth: minted };
  // So little liquidity that a swap of any size runs dry.
  const positions = [{ lower: -60, upper: 60, liquidity: 10n ** 9n }];
  await market.newPool(weth, orphan, { fee: 3000, sqrtPrice: sqrtRatioAtTick(0), positions });
  const one = (way: SimulationMethod) =>
    createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337, trialWays: [way] }, { clock: systemClock });
  trying = { simulate: one("simulate"), trace: one("trace"), probe: one("probe") };
});

afterAll(() => chain?.stop());

const call = (name: string, ...values: readonly unknown[]): Hex => ABI.encodeFunctionData(name, values) as Hex;

interface Payee {
  readonly recipient: string;
  readonly minimum: bigint;
}

const v2 = (path: readonly Address[], amountIn: bigint, { recipient, minimum }: Payee): Hex =>
  call("swapExactTokensForTokens", amountIn, minimum, path, recipient);
const v3 = (path: readonly [Address, number, Address], amountIn: bigint, { recipient, minimum }: Payee): Hex =>
  call("exactInputSingle", [...pairOf(path), recipient, amountIn, minimum, 0n]);
const pairOf = ([from, fee, into]: readonly [Address, number, Address]) => [from, into, fee];
const custody: Payee = { recipient: CUSTODY, minimum: 0n };

/** A swap, encoded for whom it pays and how much at least. */
interface Form {
  readonly sold: Address;
  readonly bought: Address;
  readonly gross: bigint;
  readonly calls: (payee: Payee) => readonly Hex[];
}

const FORMS: readonly [string, () => { form: Form; place: Place }][] = [
  [
    "one pool of the third version",
    () => {
      const { usdc, weth } = market;
      const gross = 3_000n * E6;
      return {
        place: usual,
        form: { sold: usdc, bought: weth, gross, calls: (to) => [v3([usdc, 500, weth], gross, to)] },
      };
    },
  ],
  [
    "two pairs of the second version",
    () => {
      const { dai, weth, usdt } = market;
      const gross = 300n * E18;
      return {
        place: usual,
        form: { sold: dai, bought: usdt, gross, calls: (to) => [v2([dai, weth, usdt], gross, to)] },
      };
    },
  ],
  [
    "a split over both versions",
    () => {
      const { usdc, weth } = market;
      const legs = [v3([usdc, 500, weth], 60_000n * E6, custody), v2([usdc, weth], 30_000n * E6, custody)];
      const calls = ({ recipient, minimum }: Payee) => [...legs, call(SWEEP, weth, minimum, recipient)];
      return { place: usual, form: { sold: usdc, bought: weth, gross: 90_000n * E6, calls } };
    },
  ],
  ["native coins in", () => ({ place: usual, form: coinsIn(usual, 500) })],
  [
    "native coins in, split",
    () => {
      const { usdc, weth } = market;
      const legs = [v3([weth, 500, usdc], 2n * E18, custody), v2([weth, usdc], E18, custody)];
      const calls = ({ recipient, minimum }: Payee) => [
        ...legs,
        call(SWEEP, usdc, minimum, recipient),
        call("refundETH"),
      ];
      return { place: usual, form: { sold: NATIVE_TOKEN, bought: usdc, gross: 3n * E18, calls } };
    },
  ],
  ["native coins out", () => ({ place: usual, form: coinsOut(usual) })],
  ["native coins in, where wrapping is shown by transfers", () => ({ place: minting, form: coinsIn(minting) })],
  ["native coins out, where wrapping is shown by transfers", () => ({ place: minting, form: coinsOut(minting) })],
];

function coinsIn({ weth }: Place, fee?: number): Form {
  const { usdc } = market;
  const leg = (to: Payee) => (fee === undefined ? v2([weth, usdc], E18, to) : v3([weth, fee, usdc], E18, to));
  return { sold: NATIVE_TOKEN, bought: usdc, gross: E18, calls: (to) => [leg(to), call("refundETH")] };
}

function coinsOut({ weth }: Place): Form {
  const { usdc } = market;
  const leg = v2([usdc, weth], 3_000n * E6, custody);
  const calls = ({ recipient, minimum }: Payee) => [leg, call(UNWRAP, minimum, recipient)];
  return { sold: usdc, bought: NATIVE_TOKEN, gross: 3_000n * E6, calls };
}

const inOneHour = async (): Promise<bigint> => {
  const { timestamp } = (await chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
  return BigInt(timestamp) + 3_600n;
};

interface Encoded {
  readonly form: Form;
  readonly place: Place;
  readonly swap: DecodedSwap;
  readonly calls: readonly CallRequest[];
}

/** Encodes a form, and decodes it as the daemon does. */
function encoded({
  form,
  place,
  payee,
  deadline,
}: {
  form: Form;
  place: Place;
  payee: Payee;
  deadline: bigint;
}): Encoded {
  const { sold, gross } = form;
  const from = chain.deployer;
  const data = call("multicall(uint256,bytes[])", deadline, form.calls(payee));
  const value = sold === NATIVE_TOKEN ? gross : 0n;
  const decoding = publicRoutersProfile.decodeTransaction(
    { from, to: place.router, data, value, chainId: 31_337, gasLimit: undefined },
    { chainId: 31_337, contracts: oneContract(place.router), wrappedNative: place.weth },
  );
  if (!decoding.ok) throw new Error(decoding.problem);
  const approval = TOKEN.encodeFunctionData("approve", [place.router, gross]) as Hex;
  const swap: CallRequest = { from, to: place.router, data, value };
  const calls = sold === NATIVE_TOKEN ? [swap] : [{ from, to: sold, data: approval, value: 0n }, swap];
  return { form, place, swap: decoding.swap, calls };
}

function simulated({ calls, place, swap }: Encoded, way: SimulationMethod): Promise<SimulationOutcome> {
  const accounts = [chain.deployer, swap.recipient];
  const tokens = [place.weth, market.usdc, market.dai, market.usdt, market.orphan];
  return trying[way].simulate(calls, { watched: { accounts, tokens, spenders: [place.router] } });
}

/** What the guard says to it, bound to what was decoded. */
async function verdict({ form, place, swap, calls }: Encoded, way: SimulationMethod): Promise<string | undefined> {
  const outcome = await simulated({ form, place, swap, calls }, way);
  return checkSimulation(outcome, {
    ...{ ours: [chain.deployer], owner: chain.deployer, recipient: swap.recipient },
    ...{ sold: swap.fromAsset, bought: swap.toAsset, gross: swap.amountIn, minimum: swap.amountOutMin },
    ...{ allowanceLimit: swap.amountIn, spender: place.router, ways: SIMULATION_METHODS },
    tokens: { sold: { symbol: "SOLD", decimals: 0 }, bought: { symbol: "BGHT", decimals: 0 } },
    keepsNothing: { contracts: oneContract(place.router), wrappedNative: place.weth },
  })?.code;
}

/** Somebody new each time, so that all that he has is what the swap paid. */
function newRecipient(): Address {
  recipients += 1;
  return toAddress(`0x${id(`recipient ${recipients}`).slice(-40)}`);
}

async function held(token: Address, owner: Address): Promise<bigint> {
  if (token !== NATIVE_TOKEN) return balanceOf(chain, token, owner);
  return BigInt((await chain.rpc.call("eth_getBalance", [owner, "latest"])) as string);
}

/** Gas costs nothing, so balances of native coins show the swap alone. */
async function execute(calls: readonly CallRequest[]): Promise<void> {
  for (const { from, to, data, value } of calls) {
    const fields = { from, to, data, value: `0x${value.toString(16)}`, gas: "0x989680", gasPrice: "0x0" };
    const hash = await chain.rpc.call("eth_sendTransaction", [fields]);
    await expect.poll(() => chain.rpc.call("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
  }
}

async function outputOf(one: Encoded): Promise<bigint> {
  const outcome = await simulated(one, "simulate");
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  const { recipient, toAsset } = one.swap;
  const paid = outcome.transfers.filter(({ token, to }) => token === toAsset && to === recipient);
  return paid.reduce((sum, { amount }) => sum + amount, 0n);
}

describe("what is decoded of a swap through Uniswap's own router is what happens:", () => {
  test.each(FORMS)("%s", async (_name, make) => {
    const { form, place } = make();
    const [recipient, deadline] = [newRecipient(), await inOneHour()];
    const output = await outputOf(encoded({ form, place, deadline, payee: { recipient, minimum: 1n } }));
    const one = encoded({ form, place, deadline, payee: { recipient, minimum: output } });
    expect(one.swap).toMatchObject({
      ...{ fromAsset: form.sold, toAsset: form.bought, amountIn: form.gross },
      ...{ amountOutMin: output, recipient, deadline },
    });
    const more = encoded({ form, place, deadline, payee: { recipient, minimum: output + 1n } });
    const late = encoded({ form, place, deadline: 1n, payee: { recipient, minimum: output } });
    for (const way of SIMULATION_METHODS) {
      expect(await verdict(one, way), way).toBeUndefined();
      expect(await verdict(more, way), way).toBe("SIMULATION_REVERTED");
      expect(await verdict(late, way), way).toBe("SIMULATION_REVERTED");
    }
    const before = await held(form.sold, chain.deployer);
    await execute(one.calls);
    expect(before - (await held(form.sold, chain.deployer))).toBe(one.swap.amountIn);
    expect(await held(form.bought, recipient)).toBe(output);
    for (const token of [NATIVE_TOKEN, place.weth, market.usdc, market.dai, market.usdt]) {
      expect(await held(token, place.router), token).toBe(0n);
    }
    if (form.sold !== NATIVE_TOKEN) {
      const left = TOKEN.encodeFunctionData("allowance", [chain.deployer, place.router]) as Hex;
      expect(BigInt(await chain.call({ to: form.sold, data: left }))).toBe(0n);
    }
  });
});

describe("a pool that runs dry", () => {
  test("on the way leaves a token in the router, which is denied wherever transfers are seen", async () => {
    const { usdc, weth, orphan } = market;
    const hex = (fee: number) => fee.toString(16).padStart(6, "0");
    const path = `0x${usdc.slice(2)}${hex(500)}${weth.slice(2)}${hex(3000)}${orphan.slice(2)}`;
    const gross = 3_000n * E6;
    const calls = ({ recipient, minimum }: Payee) => [call("exactInput", [path, recipient, gross, minimum])];
    const form: Form = { sold: usdc, bought: orphan, gross, calls };
    const payee = { recipient: newRecipient(), minimum: 1n };
    const one = encoded({ form, place: usual, payee, deadline: await inOneHour() });
    expect(await verdict(one, "simulate")).toBe("SIMULATION_MISMATCH");
    expect(await verdict(one, "trace")).toBe("SIMULATION_MISMATCH");
    // It sees the accounts that it watches, and a router is none of ours.
    expect(await verdict(one, "probe")).toBeUndefined();
  });

  test("at once gives native coins back: the refund leaves nothing in the router", async () => {
    const { weth, orphan } = market;
    const calls = (to: Payee) => [v3([weth, 3000, orphan], E18, to), call("refundETH")];
    const form: Form = { sold: NATIVE_TOKEN, bought: orphan, gross: E18, calls };
    const [recipient, deadline] = [newRecipient(), await inOneHour()];
    const one = encoded({ form, place: usual, payee: { recipient, minimum: 1n }, deadline });
    for (const way of ["simulate", "trace"] as const) expect(await verdict(one, way), way).toBeUndefined();
    const before = await held(NATIVE_TOKEN, chain.deployer);
    await execute(one.calls);
    expect(before - (await held(NATIVE_TOKEN, chain.deployer))).toBeLessThan(E18 / 1_000n);
    expect(await held(NATIVE_TOKEN, usual.router)).toBe(0n);
  });
});

test("a recipient that the router takes for somebody else gets nothing from a sweep: the sentinel itself does", async () => {
  const { usdc, weth } = market;
  const sentinel = toAddress(`0x${"0".repeat(39)}1`);
  const before = await held(weth, sentinel);
  const legs = [v2([usdc, weth], 3_000n * E6, custody), call(SWEEP, weth, 1n, sentinel)];
  const data = call("multicall(uint256,bytes[])", await inOneHour(), legs);
  const approval = TOKEN.encodeFunctionData("approve", [usual.router, 3_000n * E6]) as Hex;
  await chain.send({ to: usdc, data: approval });
  await chain.send({ to: usual.router, data });
  expect(await held(weth, sentinel)).toBeGreaterThan(before);
  const transaction = { from: chain.deployer, to: usual.router, data, value: 0n, chainId: 31_337, gasLimit: undefined };
  const pinned = { chainId: 31_337, contracts: oneContract(usual.router), wrappedNative: weth };
  expect(publicRoutersProfile.decodeTransaction(transaction, pinned)).toMatchObject({ ok: false });
});
