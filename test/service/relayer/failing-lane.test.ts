import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { startRelayedService } from "../support/relayed-service.ts";

test("while a fault of its own breaks off each turn of a relayer's lane no further swap is taken, and the log says it once", async () => {
  let turns = 0;
  let isBroken = true;
  const crashPoint = (label: string): void => {
    if (!isBroken || !label.startsWith("lane.")) return;
    turns += 1;
    throw new Error("a row is not what it has to be");
  };
  const { chain, market, logger, client } = await startRelayedService("failing-lane", { crashPoint });
  const [first, second] = [await newSeller(chain, market), await newSeller(chain, market)];
  const until = async (isReached: () => Promise<boolean> | boolean) => {
    for (let attempt = 0; attempt < 100 && !(await isReached()); attempt += 1) await sleep(100);
  };
  const isTaken = async () => (await client.get("/health")).body.gasless as boolean;

  const { body: quote } = await gaslessQuote(client, market, first);
  const { body: early } = await gaslessQuote(client, market, second);
  expect([await isTaken(), (await submitOrder(client, first, quote)).status]).toEqual([true, 200]);
  await until(() => turns > 2);
  expect([turns > 2, await isTaken()]).toEqual([true, false]);
  const refusal = { status: 400, body: { error: "GASLESS_UNAVAILABLE" } };
  expect(await gaslessQuote(client, market, second)).toMatchObject(refusal);
  expect(await submitOrder(client, second, early)).toMatchObject(refusal);
  const failures = logger.lines.filter(({ level }) => level === "error");
  expect(failures).toEqual([
    expect.objectContaining({
      message: "the relayer's lane failed: no gasless swap is taken until a turn of it succeeds",
      fields: { error: "a row is not what it has to be" },
    }),
  ]);

  isBroken = false;
  await until(isTaken);
  expect(await submitOrder(client, second, early)).toMatchObject({ status: 200 });
  const done = await followSwap(
    client,
    quote.id,
    ({ amountOut }) => amountOut !== null,
    () => chain.rpc.call("evm_mine", []),
  );
  expect(done.error).toBeNull();
});
