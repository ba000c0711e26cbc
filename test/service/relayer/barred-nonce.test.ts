import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { startRelayedService } from "../support/relayed-service.ts";

const HOUR_SECONDS = 3_600;

test("while gas costs more than a cancellation may offer no further swap is taken, which would wait for its nonce, and the log says why", async () => {
  const { chain, market, logger, client } = await startRelayedService("barred-nonce");
  const before = BigInt(String(await chain.rpc.call("eth_gasPrice", [])));
  const mine = async (baseFee: bigint) => {
    await chain.rpc.call("anvil_setNextBlockBaseFeePerGas", [`0x${baseFee.toString(16)}`]);
    await chain.rpc.call("evm_mine", []);
  };
  const isTaken = async () => (await client.get("/health")).body.gasless as boolean;
  const until = async (wanted: boolean, baseFee: bigint) => {
    for (let attempt = 0; attempt < 30 && (await isTaken()) !== wanted; attempt += 1) {
      await mine(baseFee);
      await sleep(400);
    }
    expect(await isTaken()).toBe(wanted);
  };

  const first = await newSeller(chain, market);
  const second = await newSeller(chain, market);
  await chain.rpc.call("evm_setAutomine", [false]);
  const { body: quote } = await gaslessQuote(client, market, first);
  expect(await submitOrder(client, first, quote)).toMatchObject({ status: 200 });
  await followSwap(client, quote.id as string, ({ hash }) => hash !== null);
  expect(await isTaken()).toBe(true);

  await chain.rpc.call("evm_increaseTime", [HOUR_SECONDS]);
  await until(false, 20n * before);
  const stuck = expect.stringMatching(
    /its deadline is past, and no cancellation of it may be signed: .*cheaper: no setting raises that.*All else of the account waits/,
  );
  expect(logger.lines).toContainEqual(
    expect.objectContaining({
      message: "the relayer takes no gasless swaps",
      fields: expect.objectContaining({ detail: stuck }),
    }),
  );
  expect(await gaslessQuote(client, market, second)).toMatchObject({
    status: 400,
    body: { error: "GASLESS_UNAVAILABLE" },
  });
  await until(true, before);
  expect(
    (
      await followSwap(
        client,
        quote.id as string,
        ({ status }) => status !== "pending",
        () => mine(before),
      )
    ).status,
  ).toBe("expired");
}, 60_000);
