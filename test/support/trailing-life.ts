import { expect } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import { priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WETH } from "./builders.ts";
import { type CourseWorld, openCourseLife } from "./course-kills.ts";
import type { Course } from "./courses.ts";
import { ACCOUNT, createOutside, type Life, type Outside, turnUntil } from "./engine-life.ts";
import {
  allowancesOf,
  expectEachFillOnce,
  expectOneEndForEachSlot,
  expectRowsToAddUp,
  leftForPools,
} from "./rows-add-up.ts";

const POLL_SECONDS = 10;
const SOLD = 10n ** 18n;

/** Dollars for an ether, look by look: up to 1012 (seen twice, so it counts), a dip that is no stop, then through it. */
const PATH = ["1000", "1000", "1012", "1012", "1004", "1001"] as const;
/** the highest price that was confirmed, and one percent below it */
const MARK = pairPriceOf(1_012_000_000n, USDC).toString();
const STOP = pairPriceOf(1_001_880_000n, USDC).toString();

function dollarsAt(nowMs: number): (typeof PATH)[number] {
  return PATH[Math.max(0, Math.floor((nowMs - SLOT_MS) / (POLL_SECONDS * 1_000)))] ?? "1001";
}

/** A stop that trails one percent below the highest price and sells one ether. */
function createTrailing(gasless: Course["gasless"]): Outside {
  const trigger = { kind: "trail", share: toPpm(10_000), activateAt: undefined } as const;
  const amount = { amount: { raw: SOLD }, floor: { steps: [toPpm(30_000)] } };
  return createOutside(SLOT_MS - 1_500, {
    ...thresholdSpec({
      // Attempts that kills bring to nothing do not give the trigger back.
      ...{ id: "trailing", retryForSeconds: 8, maxGapSeconds: 60, attempts: 50 },
      schedule: { kind: "every", seconds: POLL_SECONDS },
      legs: [thresholdLeg({ trigger, ifAlreadyTrue: "wait", ...amount })],
    }),
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT, gasless },
  });
}

interface Remembered {
  readonly at: { readonly state: string };
  readonly fills: number;
  readonly trail?: { readonly mark: string; readonly stop: string };
}

function legOf({ store }: Life): Remembered | undefined {
  const memory = JSON.parse(store.strategy("trailing")?.memory ?? "{}") as { legs?: Record<string, Remembered> };
  return memory.legs?.main;
}

/** The stop has sold, whatever any check began has its end, and no allowance is left. */
function isOver(outside: Outside, life: Life): boolean {
  const ids = life.db.prepare<[], string>("SELECT id FROM runs").pluck().all();
  const runs = ids.flatMap((id) => life.store.run(id) ?? []);
  const isEnded = runs.every((run) => isRunEnd(run.state) && run.swaps.every(({ state }) => isSwapEnd(state)));
  const isIdle = life.store.nextEffectMs() === undefined && allowancesOf(outside).length === 0;
  return legOf(life)?.at.state === "done" && isEnded && isIdle;
}

/** A world with the stop on a course. Mark and stop may never fall, from one life of the process to the next. */
export function openTrailing(course: Course): CourseWorld {
  const outside = createTrailing(course.gasless);
  const hear = course.begin(outside);
  let highest: Remembered["trail"];
  const expectNoFall = (life: Life): void => {
    const trail = legOf(life)?.trail;
    for (const part of ["mark", "stop"] as const) {
      expect(BigInt(trail?.[part] ?? 0), `the ${part} fell`).toBeGreaterThanOrEqual(BigInt(highest?.[part] ?? 0));
    }
    highest = trail;
  };
  return {
    outside,
    liveOn: async (killAt) => {
      const life = openCourseLife(outside, hear, killAt);
      setPrices(outside, life);
      expectNoFall(life);
      await life.engine.start();
      const isDone = (): boolean => {
        expectNoFall(life);
        return isOver(outside, life);
      };
      await turnUntil(outside, life, { maxSeconds: 400, isDone });
      expect(life.errors).toEqual([]);
      return life;
    },
    expectEnd: (life, what) => {
      const { at, trail } = legOf(life) ?? {};
      expect(isOver(outside, life), `${what}: ${JSON.stringify([at, trail])} ${allowancesOf(outside)}`).toBe(true);
      expectSoldAtTheStop(outside, life, what);
      expectRowsToAddUp(life);
      expectOneEndForEachSlot(outside, POLL_SECONDS);
      expectEachFillOnce(outside);
    },
  };
}

function setPrices({ clock }: Outside, life: Life): void {
  Object.assign(life.context.deps.prices, {
    price: async (token: typeof WETH) => {
      const nowMs = clock.nowMs();
      const sample = { ...priceOf(token), atSeconds: nowMs / 1_000 };
      return token.address === WETH.address ? { ...sample, usd: usd(dollarsAt(nowMs)) } : sample;
    },
  });
}

/** One ether left for a pool, once, and the strategy knows it and its mark. */
function expectSoldAtTheStop(outside: Outside, life: Life, what: string): void {
  const left = leftForPools(outside).map(({ token, amount }) => [token, amount]);
  expect(left, what).toEqual([[WETH.address, SOLD]]);
  expect(legOf(life), what).toMatchObject({ at: { state: "done" }, fills: 1, trail: { mark: MARK, stop: STOP } });
}
