import { describe, expect, it } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { ClearanceReading } from "../../../src/domain/run/events.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import type { EffectAnswer } from "../../../src/engine/perform/effect-answer.ts";
import { fetchQuote } from "../../../src/engine/perform/fetch-quote.ts";
import { readFacts } from "../../../src/engine/perform/read-facts.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import type { CallRequest } from "../../../src/ports/chain.ts";
import {
  ETH,
  HUNDRED_USDC,
  NOW_MS,
  POOL,
  policySample,
  ROUTER,
  runSample,
  USDC,
  WETH,
} from "../../support/builders.ts";
import { addSwap } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife } from "../../support/engine-life.ts";
import { refusal } from "../../support/fake-service.ts";
import { swapIn } from "../../support/reading-samples.ts";

const FIRST_BUY = { maxLoss: toPpm(50_000), when: "first-buy" } as const;
const ALWAYS = { ...FIRST_BUY, when: "always" } as const;

interface World {
  readonly outside: Outside;
  readonly life: Life;
  readonly swap: Swap;
}

/** A quoted swap in a life whose policy asks for round trips, or does not. */
async function begin(
  roundTrip: typeof FIRST_BUY | typeof ALWAYS | undefined,
  change: Partial<Swap> = {},
): Promise<World> {
  const outside = createOutside(NOW_MS);
  const life = openLife(outside, { settings: { policy: policySample({ recipients: [ACCOUNT], roundTrip }) } });
  await registerStrategies(life.context);
  const planned = swapIn("planned", { wallet: ACCOUNT, recipient: ACCOUNT, ...change });
  const gasless = planned.gasless === "only";
  const answer = await fetchQuote(life.context, runSample({ swaps: [planned] }), {
    ...{ kind: "FetchQuote", swapId: planned.id, amount: String(planned.gross), gasless, slippagePpm: "5000" },
  });
  if (answer.kind !== "quoted") throw new Error(`no quote: ${answer.kind}`);
  const swap: Swap = { ...planned, state: "quoted", quote: answer.quote, mode: gasless ? "gasless" : "self-executed" };
  return { outside, life, swap };
}

function readingOf(answer: EffectAnswer): ClearanceReading {
  if (answer.kind !== "facts-read") throw new Error(`no reading: ${JSON.stringify(answer)}`);
  return answer.reading;
}

async function roundTripOf({ life, swap }: World): Promise<ClearanceReading["roundTrip"]> {
  return readingOf(await readFacts(life.context, swap)).roundTrip;
}

/** The fake service's minimum for 100 dollars at a slippage of half a per cent. */
const MINIMUM = 99_500_000_000_000_000n;

describe("a round trip", () => {
  it("GRD-21 is asked for when the policy wants it, and never otherwise", async () => {
    const world = await begin(undefined);
    expect(await roundTripOf(world)).toBeUndefined();
    expect(world.outside.service.requests).toHaveLength(1);
  });

  it("GRD-22 sells back on the same block the least that the swap guarantees, behind the swap itself", async () => {
    const world = await begin(FIRST_BUY);
    const tried: (readonly CallRequest[])[] = [];
    const simulate = world.outside.chain.simulate.bind(world.outside.chain);
    world.outside.chain.simulate = async (calls) => {
      tried.push(calls);
      return await simulate(calls);
    };
    const roundTrip = await roundTripOf(world);
    expect(world.outside.service.requests[1]).toEqual({
      ...{ sell: WETH, buy: USDC, amount: MINIMUM, slippage: 50_000n, owner: ACCOUNT, recipient: ACCOUNT },
      ...{ gasless: false, enableRfq: false, affiliate: undefined },
    });
    // Worth 99.5 dollars; the fake chain gives 101 % of the minimum, which is 95 % of the quote.
    expect(roundTrip).toEqual({ kind: "returned", sold: 99_500_000n, returned: 95_470_250n });
    expect(tried.map((calls) => calls.map(({ to }) => to))).toEqual([
      [USDC.address, ROUTER],
      [USDC.address, ROUTER, WETH.address, ROUTER],
    ]);
  });

  it("GRD-21 is asked for before the first buy alone, unless it is wanted always", async () => {
    for (const [rule, wanted] of [
      [FIRST_BUY, false],
      [ALWAYS, true],
    ] as const) {
      const world = await begin(rule);
      world.outside.chain.mine();
      addSwap(world.life.store, swapIn("confirmed", { id: "before.0.1", wallet: ACCOUNT }), { strategyId: "weekly" });
      expect((await roundTripOf(world)) !== undefined).toBe(wanted);
    }
  });

  it("GRD-21 does not take a swap that bought it for another wallet, or that is not confirmed, for a first buy", async () => {
    const world = await begin(FIRST_BUY);
    addSwap(world.life.store, swapIn("confirmed", { id: "theirs.0.1", wallet: POOL }), { strategyId: "weekly" });
    addSwap(world.life.store, swapIn("submitted", { id: "open.0.1", wallet: ACCOUNT }), { strategyId: "weekly" });
    expect(await roundTripOf(world)).toMatchObject({ kind: "returned" });
  });

  it("GRD-23 is impossible where the token's sale reverts, although the service quotes it", async () => {
    const world = await begin(FIRST_BUY);
    const simulate = world.outside.chain.simulate.bind(world.outside.chain);
    world.outside.chain.simulate = async (calls) =>
      calls.length > 2 ? { kind: "reverted", way: "simulate", reason: "sales are closed" } : await simulate(calls);
    expect(await roundTripOf(world)).toEqual({
      ...{ kind: "impossible", reason: "selling back reverts: sales are closed" },
    });
  });

  it("GRD-23 is impossible where the service quotes no way back", async () => {
    const world = await begin(FIRST_BUY);
    world.outside.service.refuses = refusal("NO_ROUTE", false);
    expect(await roundTripOf(world)).toMatchObject({ kind: "impossible", reason: expect.stringContaining("NO_ROUTE") });
  });

  it.each([
    ...["HTTP_403", "HTTP_404", "REDIRECTED", "BAD_URL", "ANSWER_NOT_JSON", "ANSWER_TOO_LARGE", "ANSWER_MALFORMED"],
  ])("GRD-23 is no answer where %s came instead of a word of the service about the token", async (code) => {
    const world = await begin(FIRST_BUY);
    world.outside.service.refuses = refusal(code, false);
    const answer = await readFacts(world.life.context, world.swap);
    expect(answer).toMatchObject({ kind: "facts-unavailable", cause: "service" });
  });

  it("GRD-23 is no answer where the service refuses our key, by whatever name", async () => {
    const world = await begin(FIRST_BUY);
    world.outside.service.refuses = { ...refusal("KEY_UNKNOWN", false), status: 401 };
    expect(await readFacts(world.life.context, world.swap)).toMatchObject({ kind: "facts-unavailable" });
  });

  it("GRD-23 is no answer where the moment speaks against it: nothing is concluded", async () => {
    const world = await begin(FIRST_BUY);
    world.outside.service.refuses = refusal("BUSY", true);
    expect(await readFacts(world.life.context, world.swap)).toMatchObject({ kind: "facts-unavailable" });
    world.outside.service.refuses = undefined;
    const simulate = world.outside.chain.simulate.bind(world.outside.chain);
    world.outside.chain.simulate = async (calls) =>
      calls.length > 2 ? { kind: "unavailable", reason: "no such method" } : await simulate(calls);
    expect(await readFacts(world.life.context, world.swap)).toMatchObject({ kind: "facts-unavailable" });
  });

  it("GRD-22 resets an allowance that is left of the bought token, for tokens that only approve from zero", async () => {
    const world = await begin(FIRST_BUY);
    world.outside.chain.ledger.setAllowance(WETH.address, ACCOUNT, 7n);
    const amounts: bigint[] = [];
    const simulate = world.outside.chain.simulate.bind(world.outside.chain);
    world.outside.chain.simulate = async (calls) => {
      for (const { to, data } of calls) if (to === WETH.address) amounts.push(BigInt(`0x${data.slice(74)}`));
      return await simulate(calls);
    };
    await roundTripOf(world);
    expect(amounts).toEqual([0n, MINIMUM]);
  });

  it("GRD-22 is only quoted where nothing of ours can be simulated: gasless, or for another recipient", async () => {
    const relayed = await begin(FIRST_BUY, { gasless: "only" });
    expect(await roundTripOf(relayed)).toMatchObject({ kind: "returned" });
    const given = await begin(FIRST_BUY, { recipient: POOL });
    const quoted = await roundTripOf(given);
    expect(quoted).toEqual({ kind: "returned", sold: 99_500_000n, returned: 99_500_000n });
  });

  it("GRD-21 is not asked for the native coin", async () => {
    const world = await begin(ALWAYS, { sell: USDC, buy: ETH, gross: HUNDRED_USDC });
    expect(await roundTripOf(world)).toBeUndefined();
  });
});
