import { type Ppm, toPpm } from "../../../src/domain/money/fraction.ts";
import { convertUp, valueDown } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { Decision, PlannedSwap } from "../../../src/domain/strategy/decision.ts";
import type { SwapEnd } from "../../../src/domain/strategy/kind.ts";
import { resolvePlannedAmount } from "../../../src/domain/strategy/planned-amount.ts";
import type { RebalanceMemory } from "../../../src/domain/strategy/rebalance-memory.ts";
import type { BandRules, RebalanceSpec, RebalanceTarget } from "../../../src/domain/strategy/rebalance-spec.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyNeeds,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import { common, DAI, of, price, USDC, view, WBTC, WETH } from "./world.ts";

export const START_MS = 1_700_000_000_000;
export const HOUR = 3_600_000;

const PRICES: ReadonlyMap<Token, string> = new Map([
  [WETH, "3000"],
  [WBTC, "60000"],
  [DAI, "1"],
  [USDC, "1"],
]);

export function percent(number: number): Ppm {
  return toPpm(Math.round(number * 10_000));
}

/** A token of the mix, with a relative band of 20 % unless it is said otherwise. */
export function target(token: Token, weight: number, change: Partial<RebalanceTarget> = {}): RebalanceTarget {
  const soft = { relative: percent(20), absolute: undefined };
  return { token, weight: percent(weight), exit: false, soft, hard: undefined, ...change };
}

export const RULES: BandRules = {
  trigger: "any",
  soft: { forSeconds: 0, cooldownSeconds: 0 },
  hard: { forSeconds: 0 },
  maxGapSeconds: 86_400,
};

/** A mix counted in USDC that swaps directly, to its targets, without confirmation or limits. */
export function mixSpec(
  targets: readonly RebalanceTarget[],
  change: Partial<Omit<RebalanceSpec, "trades">> & { trades?: Partial<RebalanceSpec["trades"]> } = {},
): RebalanceSpec {
  const { trades, ...others } = change;
  return {
    ...{ ...common, kind: "rebalance", quote: USDC, targets, bands: RULES, destination: { to: "target" } },
    ...{ cash: undefined, onDeposit: "ignore", ...others },
    trades: {
      ...{ min: of(USDC, 50), maxUsd: undefined, maxTurnover: { perDay: undefined, perRun: undefined } },
      ...{ order: "sells-first", via: undefined, legTimeoutSeconds: 21_600, onIncomplete: "hold", ...trades },
    },
  };
}

export type Outcome = Decision<unknown>["outcome"];

/**
 * A wallet and a market that a strategy lives in: it decides, its swaps fill at reference prices less a loss, and it
 * hears how they ended. Memory goes through JSON each time, as in the database.
 */
export class RebalanceLife {
  spec: RebalanceSpec;
  memory: unknown;
  nowMs = START_MS;
  /** so far ahead is the clock when a run ends */
  clockAheadMs = 0;
  lossPpm = 0n;
  /** swaps that find no fill: by position, or by the bought token */
  fails: (swap: PlannedSwap, position: number) => string | undefined = () => undefined;
  readonly prices = new Map(PRICES);
  readonly free = new Map<Token, bigint>();
  /** of the balance, what open swaps of other strategies hold for the moment */
  readonly reserved = new Map<Token, bigint>();
  /** what external addresses hold; undefined: it was not read */
  external: readonly (readonly [Token, bigint])[] | undefined;
  readonly done: { sell: Token; buy: Token; sold: bigint; bought: bigint }[] = [];
  pause: string | undefined;
  private readonly net = new Map<Token, bigint>();

  constructor(spec: RebalanceSpec, free: readonly (readonly [Token, number | string])[]) {
    this.spec = spec;
    this.memory = initialStrategyMemory(spec);
    for (const [token, whole] of free) this.free.set(token, of(token, whole));
  }

  /** What it decides now, with its memory committed; nothing is swapped yet. */
  decide(): Outcome {
    const tokens = strategyNeeds(this.spec, this.memory).tokens.map((token) => this.tokenOf(token));
    const seen = view({
      nowMs: this.nowMs,
      free: tokens.map((token) => [token, (this.free.get(token) ?? 0n) - (this.reserved.get(token) ?? 0n)]),
      balances: tokens.map((token) => [token, this.free.get(token) ?? 0n]),
      prices: tokens.flatMap((token) => {
        const dollars = this.prices.get(token);
        return dollars === undefined ? [] : [[token, dollars] as const];
      }),
      outside: tokens.map((token) => [token, (this.free.get(token) ?? 0n) - (this.net.get(token) ?? 0n)]),
      external: this.external,
    });
    const decision = decideStrategy(this.spec, seen, this.memory);
    this.memory = JSON.parse(JSON.stringify(decision.memory));
    return decision.outcome;
  }

  /** One slot: the decision, and its swaps as far as they fill. */
  slot(): Outcome {
    const outcome = this.decide();
    if (outcome.kind === "swap") this.perform(outcome.swaps);
    return outcome;
  }

  pass(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  remembered(): RebalanceMemory {
    return this.memory as RebalanceMemory;
  }

  value(token: Token): bigint {
    return this.worth(token, this.free.get(token) ?? 0n);
  }

  worth(token: Token, raw: bigint): bigint {
    return valueDown({ raw, decimals: token.decimals }, this.usdOf(token));
  }

  total(): bigint {
    return this.spec.targets.reduce((sum, { token }) => sum + this.value(this.tokenOf(token)), 0n);
  }

  /** Weight of a token in parts per million. */
  weight(token: Token): number {
    return Number((this.value(token) * 1_000_000n) / this.total());
  }

  private perform(swaps: readonly PlannedSwap[]): void {
    const ends: SwapEnd[] = [];
    for (const [position, planned] of swaps.entries()) {
      const { sell, buy } = planned;
      const raw = resolvePlannedAmount(planned.amount, (of) => ends[of]?.bought ?? 0n);
      const reason = raw === undefined ? "below_minimum_trade" : this.fails(planned, position);
      if (raw === undefined || reason !== undefined) {
        ends.push({ position, sell, buy, sold: 0n, bought: 0n, reason });
        continue;
      }
      const bought = this.fill(this.tokenOf(sell), this.tokenOf(buy), raw);
      ends.push({ position, sell, buy, sold: raw, bought, reason: undefined });
    }
    const filled = ends.some(({ reason }) => reason === undefined);
    const after = strategyRunEnded(this.spec, this.memory, {
      ...{ slotMs: this.nowMs, nowMs: this.nowMs + this.clockAheadMs, filled, swaps: ends },
    });
    this.memory = JSON.parse(JSON.stringify(after.memory));
    this.pause = after.pause === undefined ? undefined : `${after.pause.code}: ${after.pause.detail}`;
  }

  private fill(sell: Token, buy: Token, sold: bigint): bigint {
    const fair = convertUp(
      { raw: sold, decimals: sell.decimals, usd: this.usdOf(sell) },
      { decimals: buy.decimals, usd: this.usdOf(buy) },
    );
    const bought = (fair * (1_000_000n - this.lossPpm)) / 1_000_000n;
    const held = this.free.get(sell) ?? 0n;
    if (held < sold) throw new Error(`sold ${sold} of ${held} ${sell.symbol}`);
    this.free.set(sell, held - sold);
    this.free.set(buy, (this.free.get(buy) ?? 0n) + bought);
    this.net.set(sell, (this.net.get(sell) ?? 0n) - sold);
    this.net.set(buy, (this.net.get(buy) ?? 0n) + bought);
    this.done.push({ sell, buy, sold, bought });
    return bought;
  }

  private usdOf(token: Token) {
    return price(this.prices.get(token) ?? "0").usd;
  }

  private tokenOf(token: Token): Token {
    return [...this.prices.keys(), ...this.free.keys()].find(({ address }) => address === token.address) ?? token;
  }
}

/** `0.5 WETH -> USDC` of each swap of a decision; what is sized by proceeds shows where it takes them from. */
export function legsIn(outcome: Outcome): readonly string[] {
  if (outcome.kind !== "swap") return [outcome.reason];
  return outcome.swaps.map(({ sell, buy, amount }) => {
    const size =
      amount.kind === "fixed" ? Number(amount.raw) / 10 ** sell.decimals : `proceeds of ${amount.of.join("+")}:`;
    return `${size} ${sell.symbol} -> ${buy.symbol}`;
  });
}
