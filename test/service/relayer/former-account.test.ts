import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLaneRows } from "../../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../../src/adapters/sqlite/lanes.ts";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { LaneChain } from "../../../src/ports/chain.ts";
import type { IntentRow } from "../../../src/ports/lane-store.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import { openRelayer } from "../../../src/service/relayer/relayer.ts";
import { createServiceStore, openServiceDatabase, type SwapRow } from "../../../src/service/store/service-store.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { RELAYER_SETTINGS } from "../support/relayer.ts";

const NOW_MS = 1_900_000_000_000;
const addressOf = (digits: string) => toAddress(`0x${digits.repeat(20)}`);
const [FORMER, ACCOUNT, WALLET, TOKEN] = [addressOf("0a"), addressOf("0b"), addressOf("0c"), addressOf("0d")];

test("swaps that a former key of the relayer left open hold no places for ever, and the operator is notified", async () => {
  const folder = mkdtempSync(join(tmpdir(), "swapd-former-"));
  const db = openServiceDatabase(join(folder, "service.db"));
  migrateLane(db);
  const [store, laneStore] = [createServiceStore(db, "testnet"), createLaneRows(db)];
  const plain = { to: TOKEN, data: "0x", value: 0n, gasLimit: 1n, maxFeePerGasCap: 1n } as const;
  for (let place = 0; place < 60; place += 1) {
    const intentId = `relay-${place}`;
    db.prepare(
      `INSERT INTO quotes (id, network, expires_at_seconds, body, created_at_ms, caller) VALUES (?, 'testnet', 1, '', 1, '')`,
    ).run(String(place));
    const parties = {
      wallet: WALLET,
      recipient: WALLET,
      fromToken: TOKEN,
      toToken: TOKEN,
      swapSignature: "0x",
    } as const;
    const left = { permitSignature: null, permitDeadline: null, amountOut: null, hash: null, blockNumber: null };
    const ends = { errorCode: null, errorMessage: null, createdAtMs: 1, updatedAtMs: 1, deadlineSeconds: 1 };
    const ids = { id: String(place), quoteId: String(place), intentId, network: "testnet", nonce: String(place) };
    store.insertSwap({ ...ids, ...parties, ...left, ...ends, sellAmount: "1", status: "pending" } satisfies SwapRow);
    const unmined = { nonce: undefined, outcome: undefined, minedBlockNumber: undefined, minedBlockHash: undefined };
    const life = {
      ...unmined,
      minedAttemptHash: undefined,
      signBySeconds: 1,
      deadlineSeconds: 1,
      createdAtMs: 1,
      state: "planned",
    } as const;
    laneStore.insertIntent({
      id: intentId,
      account: FORMER,
      chainId: 1,
      purpose: "relay",
      ...plain,
      ...life,
    } satisfies IntentRow);
  }
  const logger = createRecordingLogger();
  const network = { name: "testnet", chainId: 1, confirmations: 1, settlement: TOKEN, listedTokens: [] };
  const relayer = openRelayer(
    { relayer: RELAYER_SETTINGS, network: network as unknown as SettledNetwork },
    {
      signer: { address: ACCOUNT } as Signer,
      chain: {} as LaneChain,
      openLanes: () => createLanes(laneStore),
      store,
      rpc: { host: "node", call: async () => "0x1" } as unknown as JsonRpc,
      head: () => Promise.reject(new Error("nothing waits")),
      clock: createHandClock(NOW_MS),
      logger,
    },
  );
  onTestFinished(async () => {
    await relayer.runner.stop();
    db.close();
    rmSync(folder, { recursive: true });
  });
  expect(relayer.places.full()).toBeUndefined();
  expect(relayer.places.working()).toEqual([]);
  const reported = logger.lines.filter(({ message }) => message.includes("another relayer account"));
  expect(reported).toMatchObject([{ level: "warn", fields: { account: ACCOUNT, swaps: 60 } }]);
});
