import { expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import { CRASH_LABELS } from "../e2e/kill/crash-labels.ts";
import { POOL, priceOf, SLOT_MS, thresholdLeg, thresholdSpec, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { topicOf } from "../support/evidence.ts";

const START_MS = SLOT_MS - 1_500;
const LOOK_SECONDS = 20;
const SOLD = 10n ** 18n;

/** Dollars for an ether, look by look: up to 1012 (seen twice, so it counts), a dip that is no stop, then through it. */
const PATH = ["1000", "1000", "1012", "1012", "1004", "1001"] as const;
/** the highest price that was confirmed, and one percent below it */
const MARK = pairPriceOf(1_012_000_000n, USDC).toString();
const STOP = pairPriceOf(1_001_880_000n, USDC).toString();

function dollarsAt(nowMs: number): (typeof PATH)[number] {
  return PATH[Math.max(0, Math.floor((nowMs - SLOT_MS) / (LOOK_SECONDS * 1_000)))] ?? "1001";
}

/** A stop that trails one percent below the highest price and sells one ether. */
function createTrailing(): Outside {
  const trigger = { kind: "trail", share: toPpm(10_000), activateAt: undefined } as const;
  const amount = { amount: { raw: SOLD }, floor: { steps: [toPpm(30_000)] } };
  return createOutside(START_MS, {
    ...thresholdSpec({
      ...{ id: "trailing", retryForSeconds: 15, maxGapSeconds: 60 },
      schedule: { kind: "every", seconds: LOOK_SECONDS },
      legs: [thresholdLeg({ trigger, ifAlreadyTrue: "wait", ...amount })],
    }),
    ...{ wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT },
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

function hasSold(life: Life): boolean {
  const ids = life.db.prepare<[], string>("SELECT id FROM runs").pluck().all();
  const swaps = ids.flatMap((id) => life.store.run(id)?.swaps ?? []);
  return legOf(life)?.at.state === "done" && swaps.every(({ state }) => isSwapEnd(state));
}

/** Lives on the file until all is sold or the life is over; the mark and the stop may never fall meanwhile. */
async function liveOn(
  outside: Outside,
  options: { known?: Remembered | undefined; killAt?: (label: string, passed: readonly string[]) => boolean } = {},
): Promise<Life> {
  const life = openLife(outside, options.killAt === undefined ? {} : { killAt: options.killAt });
  Object.assign(life.context.deps.prices, {
    price: async (token: typeof WETH) => {
      const nowMs = outside.clock.nowMs();
      const sample = { ...priceOf(token), atSeconds: nowMs / 1_000 };
      return token.address === WETH.address ? { ...sample, usd: usd(dollarsAt(nowMs)) } : sample;
    },
  });
  let highest = options.known?.trail;
  await life.engine.start();
  const isDone = (): boolean => {
    const trail = legOf(life)?.trail;
    for (const part of ["mark", "stop"] as const) {
      expect(BigInt(trail?.[part] ?? 0), `the ${part} fell`).toBeGreaterThanOrEqual(BigInt(highest?.[part] ?? 0));
    }
    highest = trail;
    return hasSold(life);
  };
  await turnUntil(outside, life, { maxSeconds: 240, isDone });
  expect(life.errors).toEqual([]);
  return life;
}

function outflows({ chain }: Outside): readonly bigint[] {
  return chain
    .receipts()
    .flatMap(({ logs }) => logs)
    .filter(
      ({ address, topics }) =>
        address === WETH.address && topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL),
    )
    .map(({ data }) => BigInt(data));
}

function expectSoldAtTheStop(outside: Outside, life: Life, what: string): void {
  expect(outflows(outside), what).toEqual([SOLD]);
  expect(legOf(life), what).toMatchObject({ at: { state: "done" }, fills: 1, trail: { mark: MARK, stop: STOP } });
}

test("THR-17 a trailing stop keeps its high-water mark and sells once, wherever the process is killed", {
  timeout: 240_000,
}, async () => {
  const whole = createTrailing();
  const first = await liveOn(whole);
  expectSoldAtTheStop(whole, first, "not killed");
  expect(first.passed).toEqual(
    expect.arrayContaining([...CRASH_LABELS.decision, ...CRASH_LABELS.lane, "commit.transaction.after"]),
  );
  for (const [index, label] of first.passed.entries()) {
    const outside = createTrailing();
    const killed = await liveOn(outside, { killAt: (_label, passed) => passed.length === index + 1 });
    expect([killed.isDead(), killed.passed.at(-1)]).toEqual([true, label]);
    const known = legOf(killed);
    killed.db.close();
    expectSoldAtTheStop(outside, await liveOn(outside, { known }), `place ${index}: ${label}`);
  }
});
