import { expect, test } from "vitest";
import { gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { startRelayedService } from "../support/relayed-service.ts";
import { systemClock } from "../support/system-clock.ts";

test("signatures of one address are checked as often in a second as it may have swaps wait, and an accepted swap is told of again without", async () => {
  // Stands still, so that all are asked in the same second.
  const nowMs = Date.now();
  let seconds = 0;
  const clock = { ...systemClock, nowMs: () => nowMs + seconds * 1_000 };
  const options = { limits: { keyless: 50, keyed: 200 } };
  const { chain, market, client } = await startRelayedService("forged-signatures", { clock, options });
  const [seller, thief] = [await newSeller(chain, market), await newSeller(chain, market)];
  const { body: quote } = await gaslessQuote(client, market, seller);

  seconds += 1;
  const forged = await Promise.all(Array.from({ length: 40 }, () => submitOrder(client, thief, quote)));
  const unchecked = forged.filter((answer) => JSON.stringify(answer.body).includes("10 signatures of a caller"));
  expect(forged.map(({ status }) => status)).toEqual(Array(40).fill(400));
  expect([unchecked.length >= 30, unchecked.length < 40]).toEqual([true, true]);

  seconds += 1;
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
  const again = await Promise.all(Array.from({ length: 40 }, () => submitOrder(client, seller, quote)));
  expect(again.map(({ status }) => status)).toEqual(Array(40).fill(200));
}, 60_000);
