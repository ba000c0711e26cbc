import { toPpm } from "../domain/money/fraction.ts";

/** Every value that a configuration may leave out, in one place. */
export const DEFAULTS = {
  mode: "dry-run",
  listen: { host: "127.0.0.1", port: 9_464 },
  logLevel: "info",
  timezone: "UTC",
  gasless: "never",
  rfq: false,
  ifAlreadyTrue: "wait",
  /** a time without a look is a gap when it is longer than so many intervals, and longer than this */
  threshold: { attempts: 3, retryShare: 0.9, maxGap: { intervals: 3, atLeastSeconds: 60 } },
  onInsufficient: "skip",
  alertsFrom: "warning",
  sameEnds: 3,
  /** a refill or a sale is seen in the balance before the next one is thought of */
  sweepCooldownSeconds: 600,
  database: "swapd.db",
  /** in the image SWAPD_IDENTITY names a volume instead */
  identity: "identity",
  policy: {
    maxSlippage: toPpm(10_000),
    maxPriceImpact: toPpm(10_000),
    maxFee: toPpm(30_000),
    referenceTolerance: toPpm(15_000),
    maxDivergence: toPpm(20_000),
    maxDepeg: toPpm(20_000),
    roundTripWhen: "first-buy",
    pauseAfter: { failures: 3, withinSeconds: 3_600 },
  },
  rebalance: {
    trigger: "any",
    destination: "target",
    /** how far inside its band's edge a rebalance to the edge stops */
    inward: toPpm(150_000),
    order: "sells-first",
    legTimeoutSeconds: 21_600,
    onIncomplete: "hold",
    onDeposit: "ignore",
    /** at least; never less than two intervals of the schedule */
    maxGapSeconds: 86_400,
  },
  /** an attempt is repeated for half of the schedule's interval, at most this long */
  retryForAtMostSeconds: 3_600,
  timing: {
    /** our own service's quotes, and the longest deadline that is signed */
    quoteLifetimeSeconds: 60,
    permitLifetimeSeconds: 600,
    pollIntervalMs: 2_000,
    requestTimeoutMs: 10_000,
    shutdownMs: 8_000,
    priceSampleIntervalMs: 60_000,
    maxRetryAfterMs: 86_400_000,
    maxCallWaitMs: 120_000,
    /** twice what is allowed where something is signed */
    maxClockSkewSeconds: 120,
  },
  transactions: {
    bumpAfterBlocks: 5,
    rebroadcastAfterBlocks: 3,
    maxReplacements: 8,
    maxCancellations: 8,
  },
  serve: {
    listen: { host: "127.0.0.1", port: 9_465 },
    database: "service.db",
    requestsPerSecond: { keyless: 50, keyed: 200 },
    /** wei of the native coin */
    gasless: {
      minimumNativeBalance: 10n ** 16n,
      feeMarginPpm: toPpm(50_000),
      maxDailyLoss: 10n ** 17n,
      maxDailyGas: 10n ** 18n,
    },
  },
  /** an answer of the service or of a node is never read beyond this */
  maxAnswerBytes: 4 * 1_024 * 1_024,
  /** after a rollup's sequencer came back, prices are not used for so long; as Chainlink's documentation has it */
  sequencerGraceSeconds: 3_600,
  /** what the curve of a pool must hold of its quote token, before its time-weighted price counts */
  twapMinLiquidityUsd: 5_000_000n * 10n ** 18n,
  /** on top of a feed's heartbeat, before its price counts as stale */
  feedMarginSeconds: 300,
} as const;

/** Bounds of what is read at all. */
export const CONFIG_BOUNDS = {
  maxFileBytes: 256 * 1_024,
  maxStrategies: 20_000,
  mostWarnings: 100,
} as const;
