import Database from "better-sqlite3";
import { id } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { createChain } from "../../../src/chain/chain.ts";
import type { TipRule } from "../../../src/domain/money/tip.ts";
import { Secret } from "../../../src/net/secret.ts";
import { startService } from "../../../src/service/service.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { startTestChain } from "../support/chain.ts";
import { createClient } from "../support/client.ts";
import { followSwap, gaslessQuote, newSeller, submitOrder } from "../support/gasless.ts";
import { deployMarket, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS, relayerParts } from "../support/relayer.ts";
import { systemClock } from "../support/system-clock.ts";

/** A gasless swap by a relayer whose transactions pay such tips, on a chain whose gas is all tip, as on bsc. */
async function fillWith(tips: TipRule) {
  const chain = await startTestChain(["--base-fee", "0"]);
  onTestFinished(() => chain.stop());
  const market = await deployMarket(chain);
  const { signer, openLanes } = relayerParts(chain, id("tips"));
  const reads = createChain({ rpcUrls: [new Secret(chain.url)], chainId: 31_337, tips }, { clock: systemClock });
  await chain.rpc.call("anvil_setBalance", [signer.address, "0x8ac7230489e80000"]);
  const database = `${temporaryDirectory()}/service.db`;
  const service = await startService(
    serviceOptions(chain, market, { database, network: { relayer: { ...RELAYER_SETTINGS, tips } } }),
    {
      logger: createRecordingLogger(),
      clock: systemClock,
      relayers: new Map([["testnet", { signer, openLanes, chain: reads }]]),
    },
  );
  onTestFinished(() => service.stop());
  const client = await createClient(service.url);
  // In the second in which a fresh V2 pair was last traded it stores no cumulative prices: an estimate there is 44,000 gas short.
  await chain.rpc.call("evm_increaseTime", [10]);
  const seller = await newSeller(chain, market);
  const { body: quote } = await gaslessQuote(client, market, seller);
  expect(await submitOrder(client, seller, quote)).toMatchObject({ status: 200 });
  await followSwap(
    client,
    quote.id as string,
    ({ amountOut }) => amountOut !== null,
    () => chain.rpc.call("evm_mine", []),
  );
  const db = new Database(database, { readonly: true });
  const cost = db.prepare("SELECT gas_paid AS paid, loss, earned_gwei AS earned FROM relay_costs").get();
  const { expected } = db.prepare("SELECT expected_cost AS expected FROM relays").get() as { expected: string };
  db.close();
  const { paid, loss, earned } = cost as { paid: string; loss: string; earned: number };
  return { paid: Number(paid), loss: Number(loss), earned: earned * 1e9, expected: Number(expected) };
}

test.each([
  ["fast", undefined],
  ["normal", 10n ** 8n],
] as const)(
  "a swap fee repays the tip that the relayer pays, urgency %s and at most %s wei per gas, and no other one",
  async (urgency, maxPriorityFee) => {
    const { paid, loss, earned, expected } = await fillWith({ urgency, maxPriorityFee });
    expect(loss).toBe(0);
    expect(expected / paid).toBeCloseTo(1, 2);
    // In pools that nobody has traded with yet a swap takes somewhat more gas than its quote expects.
    expect(earned / paid).toBeGreaterThan(0.9);
    expect(earned / paid).toBeLessThan(1.4);
  },
  60_000,
);
