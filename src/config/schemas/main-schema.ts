import { z } from "zod";
import { SEVERITIES } from "../../domain/run/alert.ts";
import { NETWORKS } from "../../networks/book.ts";
import { address, count, listen, secretReference, text } from "../fields.ts";
import { origin, proxyNetwork } from "../front-fields.ts";
import { dollars, milliseconds, money, seconds, share } from "../units.ts";

const name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: "a name is lower-case letters, digits and hyphens, for example main" });

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

const delegate = address("the contract that the account is known to delegate to (EIP-7702)").optional();

const keystore = z.strictObject({
  keystore: secretReference("the encrypted Web3 keystore file"),
  password: secretReference("the keystore's password"),
  address: address("the account's address; without it the keystore file is asked").optional(),
  delegate,
});

const rawKey = z.strictObject({
  privateKey: secretReference("a raw private key; by environment only, in the sandbox or with an explicit flag"),
  delegate,
});

const key = z.union([keystore, rawKey], { error: "needs { keystore, password } or { privateKey }" });

const feed = z.union(
  [
    z.literal("preset"),
    z.strictObject({
      address: address("a price feed in US dollars with Chainlink's interface"),
      heartbeat: seconds("how often the feed is updated at the latest", "1h"),
      margin: seconds("how much later an update may come before the price counts as stale", "5m").optional(),
    }),
  ],
  { error: "needs preset or { address, heartbeat }" },
);

/** Shorter, and a few blocks decide the mean; longer, and it is a price of yesterday. */
const WINDOW_SECONDS = { least: 300, most: 86_400 };

const twap = z.strictObject({
  pool: address("a pool of Uniswap V3 of this token and the quote token, by a factory of the network's preset"),
  window: seconds("over how long its price is averaged", "30m").refine(
    (window) => window >= WINDOW_SECONDS.least && window <= WINDOW_SECONDS.most,
    { error: "is not between 5m and 1d" },
  ),
  quote: text("the pool's other token, which needs a feed: its dollars come from there", "USDC"),
  minLiquidity: dollars("what the pool's curve must hold of the quote token, on average over the window").optional(),
});

const token = z.strictObject({
  address: z.union([z.literal("preset"), address("the token's contract")], { error: 'needs "0x..." or preset' }),
  decimals: count("the token's decimals; compared with the chain at start", { min: 0, max: 36 }),
  feed: feed.optional().meta({ description: "the token's reference price; a token without any is not traded" }),
  twap: twap.optional().meta({ description: "a pool whose time-weighted price is a reference too" }),
  peg: z
    .enum(["USD"])
    .optional()
    .meta({ description: "what it should be worth; further away than the policy's max_depeg it is not traded" }),
});

const network = z.strictObject({
  name: z
    .string({ error: "needs the name of a network" })
    .meta({ description: `the network: ${[...NETWORKS.keys()].join(", ")}, or any name with a preset` }),
  rpc: z
    .array(rpcEndpoint, { error: "needs a list of RPC endpoints" })
    .min(1, { error: "needs at least one RPC endpoint" })
    .max(8),
  preset: text("a file with the facts of a network that is not built in", "world.json").optional(),
  confirmations: count("blocks until a transaction counts as confirmed", { min: 1, max: 200 }).optional(),
});

/** How a service speaks, where it is and with which key it is asked. */
export const serviceProfile = z.enum(["swapd", "fly"]);

const service = z.strictObject({
  profile: serviceProfile.default("swapd").meta({ description: "how the service speaks" }),
  url: text('"embedded", or the URL of a service', "embedded").default("embedded"),
  apiKey: secretReference("the API key").optional(),
  settlement: address("the contract to approve and to sign for; else the network's preset").optional(),
  signer: address("who signs the orders of the profile fly; else the account that is known of it").optional(),
});

const serve = z.strictObject({
  listen: listen("where our own service listens").optional(),
  database: text("the service's own database", "service.db").optional(),
  apiKeys: z.array(secretReference("an API key that gets the higher rate")).max(1_000).optional(),
  requestsPerSecond: z
    .strictObject({
      keyless: count("without a key, by address", { min: 1, max: 1_000_000 }),
      keyed: count("with a key", { min: 1, max: 1_000_000 }),
    })
    .optional(),
  trustedProxies: z
    .array(proxyNetwork)
    .max(64)
    .optional()
    .meta({ description: "proxies in front, whose X-Forwarded-For is believed: addresses and networks" }),
  corsOrigins: z
    .array(origin)
    .max(64)
    .optional()
    .meta({ description: 'web pages that may read answers, by origin; "*" is all of them; without the key none' }),
  metrics: listen("where the service's metrics are served; without the key nowhere").optional(),
  relayer: key.optional().meta({ description: "the account that sends gasless swaps; without it there are none" }),
  gasless: z
    .strictObject({
      minimumBalance: money(
        "what the relayer holds beside the gas of accepted swaps; with less it takes no more",
        "0.01 ETH",
      ).optional(),
      feeMargin: share("how much more than its gas a swap's fee must be worth", ["%", "bps"]).optional(),
      maxDailyLoss: money("what gas may cost in 24 hours beyond what fees repaid", "0.1 ETH").optional(),
      maxDailyGas: money("what gas may cost in 24 hours, whatever fees repaid", "1 ETH").optional(),
    })
    .optional()
    .meta({ description: "what the relayer may cost its owner" }),
});

const alerts = z.strictObject({
  webhook: z
    .strictObject({
      url: secretReference("the URL that alerts are posted to; it usually carries a key"),
      secret: secretReference("what alerts are signed with (HMAC-SHA256), at least 16 characters"),
      minimum: z.enum(SEVERITIES).optional().meta({ description: "the least severity that is sent (warning)" }),
    })
    .optional()
    .meta({ description: "where alerts are sent, signed; without it the log alone has them" }),
  fills: z
    .boolean({ error: "needs true or false" })
    .optional()
    .meta({ description: "a message for each fill; in a dry run for what would be one" }),
  starts: z.boolean({ error: "needs true or false" }).optional().meta({ description: "a message for each start" }),
  sameEnds: count("an alert when so many slots of a strategy in a row came to nothing for the same reason", {
    min: 2,
    max: 1_000,
  }).optional(),
});

/** Each hour of a look-back must be looked at, and a node must not be asked all the time. */
const SAMPLE_MS = { least: 1_000, most: 1_800_000 };

/** Below, and blocks that come late look like a wrong clock; above, and a day of slots is used up before anybody hears. */
const CLOCK_SKEW_SECONDS = { least: 60, most: 3_600 };

/** Below, and each refusal would be told as a fault; above, and a typo could stop trading for good. */
const RETRY_AFTER_MS = { least: 60_000, most: 7 * 86_400_000 };
/** Below, and a second at the rate limit loses calls; above, and a run would wait for a price that it no longer wants. */
const CALL_WAIT_MS = { least: 5_000, most: 1_800_000 };

const timing = z.strictObject({
  quoteLifetime: seconds("how long a quote lives, and the longest deadline that is signed", "60s").optional(),
  permitLifetime: seconds("how long a permit's signature lives", "10m").optional(),
  pollInterval: milliseconds("how often open swaps are looked at", "2s").optional(),
  requestTimeout: milliseconds("how long one request may take", "10s").optional(),
  shutdown: milliseconds("how long a stop waits for the step in work", "8s").optional(),
  priceSampleInterval: milliseconds("how often prices are recorded for strategies that look back at them", "60s")
    .refine((ms) => ms >= SAMPLE_MS.least && ms <= SAMPLE_MS.most, { error: "is not between 1s and 30m" })
    .optional(),
  maxClockSkew: seconds("how far this machine's clock and the chain's may be apart before no slot is run", "2m")
    .refine((value) => value >= CLOCK_SKEW_SECONDS.least && value <= CLOCK_SKEW_SECONDS.most, {
      error: "is not between 1m and 1h",
    })
    .optional(),
  maxRetryAfter: milliseconds("the longest wait that a service can ask for; after it, it is asked again", "24h")
    .refine((ms) => ms >= RETRY_AFTER_MS.least && ms <= RETRY_AFTER_MS.most, { error: "is not between 1m and 7d" })
    .optional(),
  maxCallWait: milliseconds("how long a call waits for the service's rate limit before it is given up", "2m")
    .refine((ms) => ms >= CALL_WAIT_MS.least && ms <= CALL_WAIT_MS.most, { error: "is not between 5s and 30m" })
    .optional(),
});

const transactions = z.strictObject({
  bumpAfterBlocks: count("unmined for so many blocks: replaced with higher fees", { min: 1, max: 10_000 }).optional(),
  rebroadcastAfterBlocks: count("unmined for so many blocks: sent again", { min: 1, max: 10_000 }).optional(),
  maxReplacements: count("replacements of one transaction", { min: 0, max: 100 }).optional(),
  maxCancellations: count("cancellations of one transaction past its deadline", { min: 1, max: 100 }).optional(),
});

/** The main file: which network, service, wallets and tokens, and where the other files are. */
export const mainSchema = z.strictObject({
  version: z.literal(1, { error: "needs the number 1" }).meta({ description: "the version of this format" }),
  mode: z.enum(["dry-run", "live"]).optional().meta({ description: "dry-run (default) signs nothing" }),
  network: network.meta({ description: "the network and its RPC endpoints" }),
  service: service.optional().meta({ description: "the swap aggregation service; by default our own, embedded" }),
  wallets: z.record(name, key, { error: "needs wallets by name" }).meta({ description: "the wallets by name" }),
  tokens: z.record(symbol, token, { error: "needs tokens by name" }).meta({ description: "the tokens by name" }),
  policy: text("the file with the owner's ceilings, relative to this file", "policy.yaml"),
  strategies: text("the folder with one file a strategy, relative to this file", "strategies"),
  database: text("the daemon's database", "swapd.db").optional(),
  identity: text(
    "the folder of the markers that tell a lost or old database from a new one; best on a volume that is not the database's",
    "identity",
  ).optional(),
  http: z
    .strictObject({
      listen: listen("where health and metrics are served").optional(),
      hosts: z
        .array(text("a host name", "swapd"))
        .max(100)
        .optional()
        .meta({ description: "names that callers may use beside addresses and localhost" }),
    })
    .optional(),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]) }).optional(),
  alerts: alerts.optional().meta({ description: "how people hear of what needs them; the log has the same" }),
  serve: serve.optional().meta({ description: "our own service, embedded or alone" }),
  timing: timing.optional(),
  transactions: transactions.optional(),
});

export type MainFile = z.output<typeof mainSchema>;
export type KeyFields = z.output<typeof key>;
export type FeedFields = z.output<typeof feed>;
export type TwapFields = z.output<typeof twap>;
