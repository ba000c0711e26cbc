import { id } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

test("a service whose relayer was taken out of its configuration says that swaps are not over", async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  const relayer = relayerParts(chain, id("taken out"));
  await chain.rpc.call("anvil_setBalance", [relayer.signer.address, "0x8ac7230489e80000"]);
  const database = `${temporaryDirectory()}/service.db`;
  const withRelayer = serviceOptions(chain, market, { database, network: { relayer: RELAYER_SETTINGS } });
  const before = createRecordingLogger();
  const relayers = new Map([["testnet", relayer]]);
  const service = await startService(withRelayer, { logger: before, clock: systemClock, relayers });
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
  const seller = await newSeller(chain, market);
  await chain.rpc.call("evm_setAutomine", [false]);
  const { body: quote } = await gaslessQuote(client, market, seller);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
  await service.stop();
  const after = createRecordingLogger();
  const plain = await startService(serviceOptions(chain, market, { database }), { logger: after, clock: systemClock });
  onTestFinished(() => plain.stop());
  const notOver = ({ message }: { readonly message: string }) => message.includes("are not over");
  expect(before.lines.filter(notOver)).toEqual([]);
  expect(after.lines.filter(notOver)).toEqual([
    expect.objectContaining({ level: "warn", fields: expect.objectContaining({ network: "testnet", pending: 1 }) }),
  ]);
}, 60_000);
