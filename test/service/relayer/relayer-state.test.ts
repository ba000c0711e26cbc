import { expect, test } from "vitest";
import { type JsonRpc, RpcError } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { Lane } from "../../../src/lane/lane.ts";
import type { RelayerOptions } from "../../../src/service/options.ts";
import type { RelayBook, RelayTerms } from "../../../src/service/relayer/relay-book.ts";
import { createRelayerState, type RelayerSignerState } from "../../../src/service/relayer/relayer-state.ts";
import type { ServiceStore, SwapRow } from "../../../src/service/store/service-store.ts";
import { createHandClock } from "../support/hand-clock.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";

/** The state of a relayer with a hundred swaps that wait, on a node that says this of its balance. */
function stateWith(balance: unknown, signer?: RelayerSignerState) {
  const rows = Array.from({ length: 100 }, (_, place) => ({ intentId: String(place) }) as unknown as SwapRow);
  const idle = new Set<string>();
  const account = toAddress(`0x${"0a".repeat(20)}`);
  const logger = createRecordingLogger();
  const limits = { minimumNativeBalance: 10n, maxDailyLoss: 1_000n, maxDailyGas: 1_000n };
  const state = createRelayerState(
    { relayer: limits as unknown as RelayerOptions, account },
    {
      lane: { halted: async () => undefined, blindness: async () => undefined } as unknown as Lane,
      inFlight: () => [],
      store: { pendingCount: () => rows.length, pendingSwaps: () => rows } as unknown as ServiceStore,
      book: {
        isPaid: () => false,
        terms: () => ({ expectedCost: 1n }) as RelayTerms,
        costsSince: () => ({ paid: 0n, lost: 0n }),
      } as unknown as RelayBook,
      places: {
        full: () => undefined,
        working: () => rows.filter(({ intentId }) => !idle.has(intentId)),
        maySpend: () => 1_000n,
      },
      rpc: { host: "node", call: async () => balance } as unknown as JsonRpc,
      clock: createHandClock(1_900_000_000_000),
      logger,
      barring: () => undefined,
      signer,
    },
  );
  return { state, idle, lines: logger.lines };
}

test("swaps that stopped working set none of the relayer's money aside", async () => {
  const { state, idle } = stateWith("0x32");
  expect((await state.refusal())?.error).toBe("GASLESS_RELAYER_UNFUNDED");
  for (let place = 0; place < 70; place += 1) idle.add(String(place));
  expect(await state.refusal()).toBeUndefined();
  expect(await state.report()).toMatchObject({ setAside: 30n, pending: 100 });
});

test("a balance that is no number is the node's fault, and stops no turn of the lane", async () => {
  const { state } = stateWith(null);
  await expect(state.refusal()).rejects.toThrow(RpcError);
  await state.watch();
});

test("no swap is taken while the signer elsewhere is away, and one that did not sign is told from one that does by asking it", async () => {
  const told: { absence?: string; trouble?: string } = {};
  const { state } = stateWith("0xffff", { absence: () => told.absence, trouble: () => told.trouble });
  expect([await state.refusal(), (await state.report()).signerReady]).toEqual([undefined, true]);
  told.trouble = "the signer at vault:9000 refused";
  expect([await state.refusal(), (await state.report()).signerReady]).toEqual([undefined, false]);
  told.absence = "the signer at vault:9000 does not answer";
  expect((await state.refusal())?.error).toBe("GASLESS_UNAVAILABLE");
  const withItsKey = stateWith("0xffff").state;
  expect((await withItsKey.report()).signerReady).toBeUndefined();
});

test("a swap whose first transaction the balance does not cover, besides what others may cost, is not taken, and the log says so once", async () => {
  const { state, idle, lines } = stateWith("0xb4");
  for (let place = 0; place < 70; place += 1) idle.add(String(place));
  expect(await state.refusal()).toBeUndefined();
  const swap = { gasPrice: 2n, gasLimit: 30n, dataFee: 30n };
  expect(state.feeCap(swap, undefined)).toBe(8n);
  expect(state.feeCap({ ...swap, dataFee: 31n }, undefined)).toMatchObject({ error: "GASLESS_RELAYER_UNFUNDED" });
  expect(state.feeCap({ ...swap, gasLimit: 31n }, undefined)).toMatchObject({ error: "GASLESS_RELAYER_UNFUNDED" });
  expect(lines.map(({ message }) => message)).toEqual([
    "the relayer cannot pay for a swap at today's gas price: refill it",
  ]);
});
