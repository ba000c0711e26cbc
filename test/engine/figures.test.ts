import { expect, test } from "vitest";
import type { Meter } from "../../src/ports/meter.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";

type Heard = { readonly [K in keyof Meter]: Parameters<Meter[K]>[0][] };

function listen(): { readonly meter: Meter; readonly heard: Heard } {
  const heard: Heard = { slot: [], runEnded: [], filled: [], requested: [], waited: [] };
  const meter: Meter = {
    slot: (one) => void heard.slot.push(one),
    runEnded: (one) => void heard.runEnded.push(one),
    filled: (one) => void heard.filled.push(one),
    requested: (one) => void heard.requested.push(one),
    waited: (one) => void heard.waited.push(one),
  };
  return { meter, heard };
}

const USD = 10n ** 18n;

test("a slot, its fill and the end of its run are counted once, in dollars of the decision", async () => {
  const { meter, heard } = listen();
  const outside = createOutside(SLOT_MS - 1_500);
  const life = openLife(outside, { meter });
  await life.engine.start();
  await turn(outside, life, 60);
  await life.engine.stop();
  expect(heard.slot).toEqual([{ strategy: "weekly", kind: "begun", delayMs: expect.any(Number) }]);
  expect((heard.slot[0] as { delayMs: number }).delayMs).toBeLessThan(2_000);
  expect(heard.runEnded).toEqual([{ strategy: "weekly", state: "filled", reason: undefined }]);
  expect(heard.filled).toEqual([
    {
      ...{ strategy: "weekly", sell: "USDC", buy: "WETH", mode: "self-executed", soldUsd: 100n * USD },
      // 0.0001 ETH at 1,000 dollars.
      ...{ feeUsd: expect.any(BigInt), gasUsd: USD / 10n },
      ...{ againstQuotePpm: expect.any(BigInt), againstReferencePpm: 4_950n },
    },
  ]);
});

test("a gasless fill costs no gas, and what the service kept is its fee", async () => {
  const { meter, heard } = listen();
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "prefer" });
  const life = openLife(outside, { meter });
  await life.engine.start();
  await turn(outside, life, 60);
  await life.engine.stop();
  expect(heard.filled).toMatchObject([{ mode: "gasless", gasUsd: 0n, feeUsd: USD / 2n }]);
});

test("slots of a downtime that are passed over are counted with their reason", async () => {
  const { meter, heard } = listen();
  const outside = createOutside(SLOT_MS - 1_500);
  const first = openLife(outside);
  await first.engine.start();
  await turn(outside, first, 30);
  await first.engine.stop();
  first.db.close();
  await outside.clock.advance(15 * 86_400_000);
  const life = openLife(outside, { meter });
  await life.engine.start();
  await turn(outside, life, 5);
  await life.engine.stop();
  expect(heard.slot).toContainEqual({ strategy: "weekly", kind: "passed", count: 15 * 1_440, reason: "missed" });
});

test.each(["skip", "run"])("and those that are due before a %s are counted likewise", async (command) => {
  const { meter, heard } = listen();
  const outside = createOutside(SLOT_MS - 1_500);
  const first = openLife(outside);
  await first.engine.start();
  await turn(outside, first, 30);
  await first.engine.stop();
  const madeAtMs = outside.clock.nowMs() + 15 * 86_400_000;
  first.store.addRequest({ command, arguments: { strategy: "weekly" }, madeBy: "ops", madeAtMs });
  first.db.close();
  await outside.clock.advance(15 * 86_400_000);
  outside.chain.mine();
  const life = openLife(outside, { meter });
  await life.engine.start();
  await turn(outside, life, 5);
  await life.engine.stop();
  const passed = { strategy: "weekly", kind: "passed", count: expect.any(Number), reason: "missed" };
  expect(heard.slot).toContainEqual(passed);
  expect(heard.slot).toContainEqual({ strategy: "weekly", kind: "begun", delayMs: expect.any(Number) });
});
