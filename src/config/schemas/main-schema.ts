import { z } from "zod";
import { toPpm } from "../../domain/money/fraction.ts";
import type { UsdPrice } from "../../domain/money/price.ts";
import { NETWORKS } from "../../networks/book.ts";
import { address, count, listen, maybe, name, or, orEmpty, orExample, secretReference, text } from "../fields.ts";
import { origin, proxyNetwork } from "../front-fields.ts";
import { FEED_MARGIN_SECONDS } from "../network-file.ts";
import { dollars, milliseconds, money, seconds, share } from "../units.ts";
import { alerts } from "./alerts-schema.ts";
import { fallback } from "./fallback-schema.ts";
import { fees } from "./fees-schema.ts";
import { key, wallet } from "./wallet-schema.ts";

const symbol = z.string().regex(/^[A-Za-z][A-Za-z0-9._-]{0,31}$/, {
  error: "a token's name is letters, digits, dots and hyphens, for example USDC",
});

/** An RPC endpoint. A URL written out may only be an origin: what follows the host is usually a key. */
const rpcEndpoint = z.union(
  [
    secretReference("an RPC URL by reference"),
    z.strictObject({ url: text("an RPC URL without path, query or password", "http://127.0.0.1:8545") }),
  ],
  { error: "needs { env: NAME }, { file: path } or { url: ... }" },
);

const feed = z.union(
  [
    z.literal("preset"),
    z.strictObject({
      address: address("a price feed in US dollars with Chainlink's interface"),
      heartbeat: seconds("how often the feed is updated at the latest", "1h"),
      margin: or(
        seconds("how much later an update may come before the price counts as stale", "5m"),
        FEED_MARGIN_SECONDS,
      ),
    }),
  ],
  { error: "needs preset or { address, heartbeat }" },
);

/** What the curve of a pool must hold of its quote token, before its time-weighted price counts. */
const TWAP_MIN_LIQUIDITY = (5_000_000n * 10n ** 18n) as UsdPrice;

const twap = z.strictObject({
  pool: address("a pool of Uniswap V3 of this token and the quote token, by a factory of the network's preset"),
  // Shorter, and a few blocks decide the mean; longer, and it is a price of yesterday.
  window: seconds("over how long its price is averaged", "30m", ["5m", "1d"]),
  quote: text("the pool's other token, which needs a feed: its dollars come from there", "USDC"),
  minLiquidity: or(
    dollars("what the pool's curve must hold of the quote token, on average over the window"),
    TWAP_MIN_LIQUIDITY,
  ),
});

const token = z.strictObject({
  address: z.union([z.literal("preset"), address("the token's contract")], { error: 'needs "0x..." or preset' }),
  decimals: count("the token's decimals; compared with the chain at start", { min: 0, max: 36 }),
  feed: maybe(feed, "the token's reference price; a token without any is not traded"),
  twap: maybe(twap, "a pool whose time-weighted price is a reference too"),
  peg: maybe(z.enum(["USD"]), "what it should be worth; further away than the policy's max_depeg it is not traded"),
});

const network = z.strictObject({
  name: z
    .string({ error: "needs the name of a network" })
    .meta({ description: `the network: ${[...NETWORKS.keys()].join(", ")}, or any name with a preset` }),
  rpc: z
    .array(rpcEndpoint, { error: "needs a list of RPC endpoints" })
    .min(1, { error: "needs at least one RPC endpoint" })
    .max(8),
  submit: z
    .union([z.literal("public"), z.array(rpcEndpoint).min(1).max(8)], {
      error: "needs a list of endpoints for private sending, or public",
    })
    .optional()
    .meta({
      description:
        "where transactions are sent without showing them to everybody; nothing is read from there. Without the key: the network book's relays, where it has some; public: to the RPC endpoints",
    }),
  fallback,
  fees,
  preset: text("a file with the facts of a network that is not built in", "world.json").optional(),
  confirmations: count("blocks until a transaction counts as confirmed", { min: 1, max: 200 }).optional(),
});

/** How a service speaks. The loader is given the profiles: each is a folder of its own. */
export const serviceProfile = z.string({ error: "needs the name of a profile" });

/** The profile of our own service, which is embedded where nothing else is said. */
export const OWN_PROFILE = "swapd";
/** The profile of own swaps through a public router: ours takes it where no settlement contract is known. */
export const ROUTER_PROFILE = "public-routers";

const service = orEmpty("the swap aggregation service; by default our own, embedded", {
  profile: serviceProfile.default(OWN_PROFILE).meta({ description: "how the service speaks" }),
  url: text('"embedded", or the URL of a service', "embedded").default("embedded"),
  apiKey: secretReference("the API key").optional(),
  settlement: address("the contract to approve and to sign for; else the network's preset").optional(),
  spender: address("the contract to approve, where it is another one than settlement").optional(),
  target: address("the contract that our transactions call, where it is another one than settlement").optional(),
  verifyingContract: address(
    "the contract that orders are signed for, where it is another one than settlement",
  ).optional(),
  signer: address("who signs the orders of the profile fly; else the account that is known of it").optional(),
});

const serve = orEmpty("our own service, embedded or alone", {
  listen: or(listen("where our own service listens"), { host: "127.0.0.1", port: 9_465 }),
  database: text("the service's own database; by default service.db beside the daemon's", "service.db").optional(),
  apiKeys: or(z.array(secretReference("an API key that gets the higher rate")).max(1_000), []),
  requestsPerSecond: or(
    z.strictObject({
      keyless: count("without a key, by address", { min: 1, max: 1_000_000 }),
      keyed: count("with a key", { min: 1, max: 1_000_000 }),
    }),
    { keyless: 50, keyed: 200 },
  ),
  trustedProxies: or(
    z.array(proxyNetwork).max(64),
    [],
    "proxies in front, whose X-Forwarded-For is believed: addresses and networks",
  ),
  corsOrigins: or(
    z.array(origin).max(64),
    [],
    'web pages that may read answers, by origin; "*" is all of them; without the key none',
  ),
  metrics: listen("where the service's metrics are served; without the key nowhere").optional(),
  relayer: maybe(key, "the account that sends gasless swaps; without it there are none"),
  gasless: orEmpty("what the relayer may cost its owner", {
    minimumBalance: money(
      "what the relayer holds on top of the gas of accepted swaps; with less it takes no more",
      "0.01 ETH",
    ).optional(),
    feeMargin: or(share("how much more than its gas a swap's fee must be worth", ["%", "bps"]), toPpm(50_000)),
    maxDailyLoss: money("what gas may cost in 24 hours beyond what fees repaid", "0.1 ETH").optional(),
    maxDailyGas: money("what gas may cost in 24 hours, whatever fees repaid", "1 ETH").optional(),
  }),
});

const timing = orEmpty(undefined, {
  // The owners of a Safe may need days; above, and what is signed outlives what anyone remembers of it.
  quoteLifetime: orExample(
    seconds("how long a quote lives, and the longest deadline that is signed", "60s", ["1s", "7d"]),
  ),
  permitLifetime: orExample(seconds("how long a permit's signature lives", "10m", ["1s", "7d"])),
  // Above, no open swap would be followed in time; and a timer of the machine ends by itself after 24 days.
  pollInterval: orExample(milliseconds("how often open swaps are checked", "2s", ["50ms", "10m"])),
  requestTimeout: orExample(milliseconds("how long one request may take", "10s", ["100ms", "10m"])),
  shutdown: orExample(milliseconds("how long a stop waits for the step in work", "8s", ["100ms", "1h"])),
  // Each hour of a look-back needs a sample, and a node must not be asked all the time.
  priceSampleInterval: orExample(
    milliseconds("how often prices are recorded for strategies that look back at them", "60s", ["1s", "30m"]),
  ),
  // Below, late blocks look like a wrong clock; above, a day of slots is used up before anyone is notified.
  maxClockSkew: orExample(
    seconds("how far this machine's clock and the chain's may be apart before no slot is run", "2m", ["1m", "1h"]),
  ),
  // Below, each refusal would be reported as a fault; above, a typo could stop trading for good.
  maxRetryAfter: orExample(
    milliseconds("the longest wait that a service can ask for; after it, it is asked again", "24h", ["1m", "7d"]),
  ),
  // Below, a second at the rate limit loses calls; above, a run would wait for a price that it no longer wants.
  maxCallWait: orExample(
    milliseconds("how long a call waits for the service's rate limit before it is given up", "2m", ["5s", "30m"]),
  ),
}).transform((written) => ({
  quoteLifetimeSeconds: written.quoteLifetime,
  permitLifetimeSeconds: written.permitLifetime,
  pollIntervalMs: written.pollInterval,
  requestTimeoutMs: written.requestTimeout,
  shutdownMs: written.shutdown,
  /** how often prices are recorded for strategies that look back at them */
  priceSampleIntervalMs: written.priceSampleInterval,
  /** how far this machine's clock and the chain's may be apart, before no slot is run or passed over */
  maxClockSkewSeconds: written.maxClockSkew,
  /** a service that asks for a longer wait is asked again after this */
  maxRetryAfterMs: written.maxRetryAfter,
  /** how long a call waits for the service's rate limit */
  maxCallWaitMs: written.maxCallWait,
}));

const blocks = { min: 1, max: 10_000 };

const transactions = orEmpty(undefined, {
  bumpAfterBlocks: count(
    "unmined for so many blocks: replaced with higher fees; by default 5, and more where blocks come fast",
    blocks,
  ).optional(),
  rebroadcastAfterBlocks: or(count("unmined for so many blocks: sent again", blocks), 3),
  maxReplacements: or(count("replacements of one transaction", { min: 0, max: 100 }), 8),
  maxCancellations: or(count("cancellations of one transaction past its deadline", { min: 1, max: 100 }), 8),
  cancelPubliclyAfterBlocks: count(
    "a private cancellation unmined for so many blocks: an empty one is shown to everybody; by default five times bumpAfterBlocks of the network",
    blocks,
  ).optional(),
});

/** The main file: which network, service, wallets and tokens, and where the other files are. */
export const mainSchema = z.strictObject({
  version: z.literal(1, { error: "needs the number 1" }).meta({ description: "the version of this format" }),
  mode: or(
    z.enum(["dry-run", "paper", "live"]),
    "dry-run",
    "paper, which `swapd init` writes, carries simulated fills on and signs nothing; dry-run, without the key, judges each slot alone and signs nothing; live signs",
  ),
  network: network.meta({ description: "the network and its RPC endpoints" }),
  service,
  wallets: z.record(name, wallet, { error: "needs wallets by name" }).meta({ description: "the wallets by name" }),
  tokens: z.record(symbol, token, { error: "needs tokens by name" }).meta({ description: "the tokens by name" }),
  policy: text("the file with the owner's ceilings, relative to this file", "policy.yaml"),
  strategies: text("the folder with one file a strategy, relative to this file", "strategies"),
  database: orExample(text("the daemon's database", "swapd.db")),
  // Below, and limits would count what is gone; above, and a typo would keep everything.
  retention: orExample(
    milliseconds("how long runs that signed nothing are kept, and what the steps of all runs saw", "90d", [
      "1d",
      "3650d",
    ]),
  ),
  identity: text(
    "the folder of the markers that distinguish a lost or old database from a new one; best on a volume that is not the database's",
    "identity",
  ).optional(),
  http: orEmpty(undefined, {
    listen: orExample(listen("where health and metrics are served")),
    hosts: or(
      z.array(text("a host name", "swapd")).max(100),
      [],
      "names that callers may use besides addresses and localhost",
    ),
  }),
  log: orEmpty(undefined, {
    level: or(z.enum(["debug", "info", "warn", "error"]), "info"),
    format: or(z.enum(["auto", "json", "text"]), "auto", "auto: one readable line an event at a terminal, else JSON"),
  }),
  alerts,
  serve,
  timing,
  transactions,
});

export type MainFile = z.output<typeof mainSchema>;
