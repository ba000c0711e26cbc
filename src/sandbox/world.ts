import { z } from "zod";
import { type Address, type Hex, isHex, toAddress } from "../domain/money/address.ts";
import type { FactoryFacts } from "../networks/network.ts";
import type { SandboxAccount } from "./accounts.ts";
import { type PoolPlan, SYMBOLS, type TokenSymbol } from "./plan.ts";

export interface SandboxToken {
  readonly address: Address;
  readonly decimals: number;
  /** Its dollar price feed, with Chainlink's interface. */
  readonly feed: Address;
}

/** A pool that the sandbox made. `token0 < token1`, as everywhere in Uniswap. */
export interface SandboxPool {
  readonly kind: PoolPlan["kind"];
  readonly address: Address;
  readonly token0: TokenSymbol;
  readonly token1: TokenSymbol;
  /** Swap fee in parts per million. */
  readonly feePips: number;
  /** The liquidity of a V3 pool; empty for V2, whose reserves show it. */
  readonly ranges: readonly { readonly tickLower: number; readonly tickUpper: number; readonly liquidity: bigint }[];
}

/** What a client of a sandbox needs to know of it. */
export interface SandboxWorld {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly network: "sandbox";
  readonly wrappedNative: Address;
  readonly settlement: Address;
  readonly executor: Address;
  readonly protocols: readonly FactoryFacts[];
  readonly tokens: Readonly<Record<TokenSymbol, SandboxToken>>;
  /** Feeds by symbol, and the native coin's as `ETH`. */
  readonly feeds: Readonly<Record<string, Address>>;
  /** Empty on a fork, whose pools are the forked chain's own. */
  readonly pools: readonly SandboxPool[];
  /** The contract through which the market deposits and trades; absent on a fork. */
  readonly poolMinter?: Address;
  readonly wallet: SandboxAccount;
  readonly relayer: SandboxAccount;
  readonly traders: readonly SandboxAccount[];
  readonly market: { readonly seed: number };
}

const address = z.string().transform((text) => toAddress(text));
const hex = z.string().refine((text): text is Hex => isHex(text));
const account = z.object({ address, privateKey: hex });
const token = z.object({ address, decimals: z.number(), feed: address });
const symbol = z.enum(SYMBOLS);
const kind = z.union([z.literal(1), z.literal(2)]);
const liquidity = z.string().transform((text) => BigInt(text));
const range = z.object({ tickLower: z.number(), tickUpper: z.number(), liquidity });

const worldSchema = z.object({
  chainId: z.number(),
  network: z.literal("sandbox"),
  wrappedNative: address,
  settlement: address,
  executor: address,
  protocols: z.array(
    z.object({ kind: z.number(), factory: address, feePips: z.number(), initCodeHash: hex.exactOptional() }),
  ),
  tokens: z.record(symbol, token),
  feeds: z.record(z.string(), address),
  pools: z.array(
    z.object({ kind, address, token0: symbol, token1: symbol, feePips: z.number(), ranges: z.array(range) }),
  ),
  poolMinter: address.exactOptional(),
  wallet: account,
  relayer: account,
  traders: z.array(account),
  market: z.object({ seed: z.number() }),
});

/** Writes a world for {@link readWorld}: next to the chain's state, so that a stopped sandbox can start again. */
export function writeWorld(world: SandboxWorld): string {
  const { rpcUrl: _, ...lasting } = world;
  return JSON.stringify(lasting, (_key, value) => (typeof value === "bigint" ? value.toString() : value), 2);
}

/** Reads what {@link writeWorld} wrote. @throws when the text is anything else */
export function readWorld(text: string, rpcUrl: string): SandboxWorld {
  return { rpcUrl, ...worldSchema.parse(JSON.parse(text)) };
}
