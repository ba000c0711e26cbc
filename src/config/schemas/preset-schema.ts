import { z } from "zod";
import type { Hex } from "../../domain/money/address.ts";
import { address, count, text } from "../fields.ts";
import { seconds } from "../units.ts";

const feed = z.union(
  [
    address("a price feed in US dollars with Chainlink's interface"),
    z.strictObject({
      address: address("a price feed in US dollars with Chainlink's interface"),
      heartbeat: seconds("how often the feed is updated at the latest", "1h").optional(),
      margin: seconds("how much later an update may come before the price counts as stale", "5m").optional(),
    }),
  ],
  { error: 'needs "0x..." or { address, heartbeat }, with the address in lower case or with its right checksum' },
);

function hash(what: string) {
  return z
    .string()
    .regex(/^0x[0-9a-f]{64}$/, `needs ${what}: 0x and 64 digits in lower case`)
    .transform((text) => text as Hex);
}

/** A file with the facts of a network, as the sandbox writes it. Other keys in it are left alone. */
export const presetSchema = z.object({
  chainId: count("the chain id", { min: 1, max: 2 ** 52 }),
  nativeSymbol: text("the native coin", "ETH").optional(),
  wrappedNative: address("the wrapped native token"),
  settlement: address("the settlement contract; without it one is named in the main file").optional(),
  executor: address("the executor contract").optional(),
  router: address(
    "Uniswap's SwapRouter02, PancakeSwap's SmartRouter, or Slipstream's or Solidly's router, by which own swaps settle where no settlement is",
  ).optional(),
  routerCodeHash: hash("the keccak-256 of the router's code").optional(),
  furtherRouters: z
    .array(
      z.object({
        address: address("a further router, such as Slipstream's or Solidly's: the one that brings most is taken"),
        codeHash: hash("the keccak-256 of its code").optional(),
      }),
    )
    .max(4)
    .optional(),
  protocols: z
    .array(
      z.object({
        kind: count("the number of the kind of its pools", { min: 1, max: 255 }),
        factory: address("the protocol's factory"),
        feePips: count("the fee of all its pools in parts per million, or 0", { min: 0, max: 999_999 }),
        initCodeHash: hash("the keccak-256 of the code that the factory creates its pools by").optional(),
      }),
    )
    .min(1)
    .max(255),
  dataFee: z
    .enum(["op-stack", "arbitrum"], {
      error:
        "needs op-stack (wei on top of gas) or arbitrum (more gas), or leave it out where gas is all there is to pay",
    })
    .optional(),
  feeTiers: z.array(count("a fee tier", { min: 1, max: 999_999 })).max(32),
  tokens: z.record(
    z.string(),
    z.object({
      address: address("the token"),
      decimals: count("its decimals", { min: 0, max: 36 }),
      feed: feed.optional(),
    }),
  ),
  nativeFeed: feed,
  sequencerFeed: address("of a rollup: the feed that says whether its sequencer is up").optional(),
  heartbeatSeconds: count("how often feeds are updated that say nothing themselves", {
    min: 1,
    max: 10 ** 9,
  }).optional(),
  confirmations: count("blocks until a transaction counts as confirmed", { min: 1, max: 200 }).optional(),
});

export type PresetFile = z.output<typeof presetSchema>;
