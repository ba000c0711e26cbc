import { expect } from "vitest";
import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { createRandom } from "../../../src/sandbox/market/random.ts";
import type { TestChain } from "./chain.ts";
import type { Client } from "./client.ts";
import { deviation, expectedGas } from "./gas-check.ts";
import type { Market } from "./market.ts";
import { execute, quoteAtHead } from "./quoted-swap.ts";
import { balanceOf, createWallet } from "./wallet.ts";

/** A market whose swaps settle through a public router. */
export interface RoutedWorld {
  readonly chain: TestChain;
  readonly market: Market;
  readonly router: Address;
  /** further routers, of which a quote may name one instead */
  readonly others?: readonly Address[];
  readonly client: Client;
}

/** What kinds of swaps there were. */
interface Seen {
  split: number;
  hops: number;
  v2: number;
  v3: number;
  native: number;
  /** through the first router, and through another */
  first: number;
  other: number;
}

interface Plan {
  readonly swaps: number;
  readonly seed: number;
  readonly random: ReturnType<typeof createRandom>;
  /** how far expected gas may be off, in parts of one; undefined: nobody can say */
  readonly gasWithin: number | undefined;
  /** kinds that must have been met: chance may leave one out of few swaps, so more are made until it was */
  readonly kinds: readonly (keyof Seen)[];
}

/** How many times more swaps there may be for a kind that chance left out. */
const PATIENCE = 5;

export const RECIPIENT = "0x00000000000000000000000000000000000a11ce" as Address;
const TOKEN = loadContract("PermitToken").abi;

/** Lets a router take what the deployer has of each token. */
export async function approveRouter(
  chain: TestChain,
  router: Address,
  { weth, usdc, dai, usdt }: Market,
): Promise<void> {
  for (const token of [weth, usdc, dai, usdt]) {
    const data = TOKEN.encodeFunctionData("approve", [router, MAX_UINT256]) as Hex;
    await chain.send({ to: token, data });
  }
}

/** A random request between any two tokens, worth up to a good part of the pools. */
function randomRequest({ chain, market }: RoutedWorld, random: Plan["random"]) {
  const offered: [Address, number, decimals: number][] = [
    [market.weth, 3_000, 18],
    [market.usdc, 1, 6],
    [market.dai, 1, 18],
    [market.usdt, 1, 6],
    [NATIVE_TOKEN, 3_000, 18],
  ];
  const isCoin = (token: Address) => token === NATIVE_TOKEN || token === market.weth;
  const sold = offered[Math.floor(random.uniform() * offered.length)]!;
  const others = offered.filter(([token]) => token !== sold[0] && !(isCoin(token) && isCoin(sold[0])));
  const bought = others[Math.floor(random.uniform() * others.length)]!;
  const value = 100 * 3_000 ** random.uniform();
  const digits = BigInt(Math.floor((value / sold[1]) * 1e6)) * 10n ** BigInt(sold[2] - 6);
  return {
    fromTokenAddress: sold[0],
    toTokenAddress: bought[0],
    amount: (digits + BigInt(Math.floor(random.uniform() * 1_000))).toString(),
    slippage: "0.005",
    fromAddress: chain.deployer,
    toAddress: random.uniform() < 0.7 ? RECIPIENT : createWallet().address,
    gasless: "false",
  };
}

type Request = ReturnType<typeof randomRequest>;

async function held({ chain }: RoutedWorld, token: Address, owner: Address): Promise<bigint> {
  if (token !== NATIVE_TOKEN) return balanceOf(chain, token, owner);
  return BigInt((await chain.rpc.call("eth_getBalance", [owner, "latest"])) as string);
}

/** What a router must never keep: somebody else could take it. */
async function leftInRouter(world: RoutedWorld): Promise<readonly bigint[]> {
  const { weth, usdc, dai, usdt } = world.market;
  const routers = [world.router, ...(world.others ?? [])];
  const tokens = [weth, usdc, dai, usdt, NATIVE_TOKEN];
  return Promise.all(routers.flatMap((router) => tokens.map((token) => held(world, token, router))));
}

/** Executes random quotes on the state that they stand on: each brings what it says, to the wei, and leaves nothing. */
export async function executeQuotes(
  world: RoutedWorld,
  { swaps, seed, random, gasWithin, kinds }: Plan,
): Promise<{ readonly seen: Seen; readonly deviations: readonly number[] }> {
  const { chain, client } = world;
  const deviations: number[] = [];
  const seen: Seen = { split: 0, hops: 0, v2: 0, v3: 0, native: 0, first: 0, other: 0 };
  const isMissed = () => kinds.some((kind) => seen[kind] === 0);
  for (let count = 0; count < swaps || (isMissed() && count < PATIENCE * swaps); count += 1) {
    const request = randomRequest(world, random);
    const before = await held(world, request.toTokenAddress, request.toAddress);
    const sold = request.fromTokenAddress;
    const owned = await held(world, sold, chain.deployer);
    const { quote, transaction } = await quoteAtHead({ chain, client }, request);
    const route = await client.get("/aggregator/distributions", { quoteId: quote.id });
    const { isDone, gasUsed } = await execute(chain, transaction);
    const context = `${JSON.stringify(request)} over ${JSON.stringify(route.body.distributions)}, seed ${seed}`;
    expect(isDone, context).toBe(true);
    const got = (await held(world, request.toTokenAddress, request.toAddress)) - before;
    expect(got, context).toBe(BigInt(quote.amountOut));
    if (sold !== NATIVE_TOKEN)
      expect(owned - (await held(world, sold, chain.deployer)), context).toBe(BigInt(request.amount));
    expect(new Set(await leftInRouter(world)), context).toEqual(new Set([0n]));
    expect(transaction.to, context).toBe(quote.targetAddress);
    expect([world.router, ...(world.others ?? [])], context).toContain(transaction.to);
    seen[transaction.to === world.router ? "first" : "other"] += 1;
    tally(seen, route.body.distributions, request);
    const off = deviation(await expectedGas(chain, quote), gasUsed);
    deviations.push(off);
    if (gasWithin !== undefined)
      expect(Math.abs(off), `expected gas to ${gasUsed} of the receipt, ${context}`).toBeLessThan(gasWithin);
  }
  // Whoever quotes next sees the last one as well.
  await quoteAtHead(world, randomRequest(world, random));
  expect(isMissed(), `each of ${kinds.join(", ")} in ${JSON.stringify(seen)}, seed ${seed}`).toBe(false);
  return { seen, deviations };
}

interface WireHop {
  readonly protocol: string;
  readonly fromTokenAddress: string;
}

function tally(seen: Seen, hops: readonly WireHop[], request: Request): void {
  const legs = hops.filter(({ fromTokenAddress }) => fromTokenAddress === hops[0]?.fromTokenAddress).length;
  if (legs > 1) seen.split += 1;
  if (hops.length > legs) seen.hops += 1;
  if (hops.some(({ protocol }) => protocol.endsWith("-v2"))) seen.v2 += 1;
  if (hops.some(({ protocol }) => protocol.endsWith("-v3"))) seen.v3 += 1;
  if (request.fromTokenAddress === NATIVE_TOKEN || request.toTokenAddress === NATIVE_TOKEN) seen.native += 1;
}
