import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { gaslessQuote, newSeller } from "../support/gasless.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

const TEN_MINUTES_MS = 600_000;

test("by a newest block that is ten minutes old no gasless swap is taken, and the log says so of quotes too; by a new one it is", async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  const parts = relayerParts(chain, id("standing-chain"));
  await chain.rpc.call("anvil_setBalance", [parts.signer.address, "0x8ac7230489e80000"]);
  const logger = createRecordingLogger();
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const database = `${temporaryDirectory()}/service.db`;
  const service = await startService(
    serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } }),
    { logger, clock, relayers: new Map([["testnet", parts]]) },
  );
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
  const seller = await newSeller(chain, market);
  const until = async (taken: boolean) => {
    for (let attempt = 0; attempt < 60; attempt += 1) {
      if ((await client.get("/health")).body.gasless === taken) return;
      await sleep(100);
    }
  };

  expect((await gaslessQuote(client, market, seller)).status).toBe(200);
  aheadMs = TEN_MINUTES_MS;
  await until(false);
  const refused = await gaslessQuote(client, market, seller);
  expect(refused).toMatchObject({ status: 400, body: { error: "GASLESS_UNAVAILABLE" } });
  const lines = logger.lines.filter(({ level }) => level === "warn");
  expect(lines).toContainEqual(
    expect.objectContaining({
      message: "the relayer takes no gasless swaps",
      fields: expect.objectContaining({ detail: expect.stringMatching(/newest block \d+ is 10m\d*s? old/) }),
    }),
  );
  const ofQuotes = "quotes go on by an old newest block; its node stands still, or this machine's clock is wrong";
  expect(lines.filter(({ message }) => message === ofQuotes)).toHaveLength(1);

  aheadMs = 0;
  await until(true);
  expect((await gaslessQuote(client, market, seller)).status).toBe(200);
});
