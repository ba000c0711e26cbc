import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { startRelayedService } from "../support/relayed-service.ts";
import { systemClock } from "../support/system-clock.ts";

const TEN_MINUTES_MS = 600_000;
const HOUR_SECONDS = 3_600;

test("by a newest block that is ten minutes old no gasless swap is quoted or taken, and the log says so; by a new one it is", async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const lifetimes = { quoteLifetimeSeconds: HOUR_SECONDS, permitLifetimeSeconds: HOUR_SECONDS };
  const options = { metrics: { host: "127.0.0.1", port: 0 }, ...lifetimes };
  const { chain, market, logger, service, client } = await startRelayedService("standing-chain", { clock, options });
  const seller = await newSeller(chain, market);
  const until = async (taken: boolean) => {
    for (let attempt = 0; attempt < 60; attempt += 1) {
      if ((await client.get("/health")).body.gasless === taken) return;
      await sleep(100);
    }
  };
  const gauge = async () => {
    const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
    return /^swapd_service_gasless\{network="testnet"\} (.)$/m.exec(text)?.[1];
  };

  const { body: quote, status } = await gaslessQuote(client, market, seller);
  expect([status, await gauge()]).toEqual([200, "1"]);
  aheadMs = TEN_MINUTES_MS;
  await until(false);
  expect(await gauge()).toBe("0");
  const refusal = { status: 400, body: { error: "GASLESS_UNAVAILABLE" } };
  expect(await gaslessQuote(client, market, seller)).toMatchObject(refusal);
  const late = await submitOrder(client, seller, quote);
  expect(late).toMatchObject(refusal);
  expect(late.body.message).toMatch(/newest block \d+ is 10m\d*s? old/);
  const message =
    "the newest block is old: its node stands still, or this machine's clock is wrong; quotes go on, gasless ones do not";
  const error = expect.stringMatching(/newest block \d+ is 10m\d*s? old/);
  const lines = logger.lines.filter((line) => line.message === message);
  expect(lines).toEqual([expect.objectContaining({ level: "warn", fields: expect.objectContaining({ error }) })]);

  aheadMs = 0;
  await until(true);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
});
