import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

test("while a fault of its own breaks off each turn of a relayer's lane no further swap is taken, and the log says it once", async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  let turns = 0;
  let isBroken = true;
  const parts = relayerParts(chain, id("failing-lane"), (label) => {
    if (!isBroken || !label.startsWith("lane.")) return;
    turns += 1;
    throw new Error("a row is not what it has to be");
  });
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const logger = createRecordingLogger();
  const service = await startService(
    serviceOptions(chain, market, {
      database: `${temporaryDirectory()}/service.db`,
      network: { relayer: RELAYER_SETTINGS },
    }),
    { logger, clock: systemClock, relayers: new Map([["testnet", parts]]) },
  );
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
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
