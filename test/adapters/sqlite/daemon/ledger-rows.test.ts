import { describe, expect, test } from "vitest";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { toPpm } from "../../../../src/domain/money/fraction.ts";
import type { RunRecord } from "../../../../src/domain/run/records.ts";
import { type RunState, SWAP_STATES } from "../../../../src/domain/run/states.ts";
import {
  HUNDRED_USDC,
  NOW_MS,
  POOL,
  ROUTER,
  runSample,
  SLOT_MS,
  swapSample,
  USDC,
  WALLET,
  WETH,
} from "../../../support/builders.ts";
import { addRun, addSwap, openDaemonDatabase, saveAs } from "../../../support/daemon-database.ts";
import { intentRow } from "../../../support/lane-database.ts";
import { hash, swapIn } from "../../../support/reading-samples.ts";

const HUGE = 2n ** 200n;
const run = runSample();

/** Three swaps of two strategies: amounts that no 64-bit sum could hold. */
function threeSwaps(store: DaemonStore): void {
  for (const [id, gross, strategyId] of [
    ["a", HUGE, "weekly"],
    ["b", HUGE + 1n, "weekly"],
    ["c", 7n, "other"],
  ] as const) {
    addSwap(store, swapSample({ id, gross }), { strategyId });
  }
}

/** Writes a record of a swap as the step of its run would. */
const write = (store: DaemonStore, record: RunRecord, atMs = NOW_MS): void => {
  const swaps = "swapId" in record ? [swapSample({ id: record.swapId })] : [];
  store.writeRecord({ ...run, swaps }, record, atMs);
};

describe("money", () => {
  test("sums are exact beyond every number type, per wallet and token, and can leave a swap out", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    expect(store.reserved(WALLET, USDC.address)).toBe(2n * HUGE + 8n);
    expect(store.reserved(WALLET, USDC.address, "b")).toBe(HUGE + 7n);
    expect(store.reserved(WALLET, WETH.address)).toBe(0n);
    expect(store.reserved(POOL, USDC.address)).toBe(0n);
  });

  test("what a wallet holds without swaps is not known while another wallet's swap may have brought it something", () => {
    const moving = SWAP_STATES.filter((state) => {
      const { store } = openDaemonDatabase();
      addSwap(store, swapIn(state, { id: "a", wallet: POOL, recipient: WALLET }));
      expect(store.netOfSwaps(WALLET, USDC.address)).toBe(0n);
      return store.netOfSwaps(WALLET, WETH.address) === undefined;
    });
    // Before it was signed nothing of it can come, and a fill that is confirmed is counted.
    expect(moving).toEqual(["signed", "submitted", "mined", "unknown"]);
  });

  test("ALL-6 what was spent is no longer reserved but still sold, with the measured amount", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    write(store, { kind: "spend", swapId: "a", amount: HUGE - 5n });
    expect(store.reserved(WALLET, USDC.address)).toBe(HUGE + 8n);
    expect(store.soldBy("weekly")).toEqual(new Map([[USDC.address, 2n * HUGE - 4n]]));
    expect(store.soldBy("other")).toEqual(new Map([[USDC.address, 7n]]));
    expect(store.soldBy("nobody")).toEqual(new Map());
  });

  test("ALL-6 what was released is neither reserved nor sold", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    write(store, { kind: "release", swapId: "b" });
    expect(store.reserved(WALLET, USDC.address)).toBe(HUGE + 7n);
    expect(store.soldBy("weekly").get(USDC.address)).toBe(HUGE);
  });

  test("ALL-6 a fill that a reorganisation took back is reserved again, whole", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    write(store, { kind: "spend", swapId: "c", amount: 5n });
    write(store, { kind: "unspend", swapId: "c", amount: 7n });
    expect(store.reserved(WALLET, USDC.address, "a")).toBe(HUGE + 8n);
  });

  test("a swap reserves once: a second reservation breaks the commit", () => {
    const { store } = openDaemonDatabase();
    const owner = addRun(store, runSample({ swaps: [swapSample()] }));
    const again = { kind: "reserve", swapId: "run_1.0.1", token: USDC, amount: 1n } as const;
    expect(() => store.writeRecord(owner, again, NOW_MS)).toThrow("UNIQUE");
  });

  test("what is sized by proceeds follows what is measured, and never once it was settled", () => {
    const { store } = openDaemonDatabase();
    const planned = { kind: "proceeds", of: [0], base: 0n, share: toPpm(1_000_000), max: 9n, min: 1n } as const;
    const owner = addRun(store, runSample({ swaps: [swapSample({ planned, gross: 5n })] }));
    const follow = { kind: "reserve", swapId: "run_1.0.1", token: USDC, amount: 7n } as const;
    store.writeRecord(owner, follow, NOW_MS);
    expect(store.reserved(WALLET, USDC.address)).toBe(7n);
    store.writeRecord(owner, { kind: "release", swapId: "run_1.0.1" }, NOW_MS);
    expect(() => store.writeRecord(owner, follow, NOW_MS)).toThrow("has been settled");
  });

  test("a plan that reserves nothing yet is released without a trace", () => {
    const { store, db } = openDaemonDatabase();
    addSwap(store, swapSample({ id: "later", gross: undefined }));
    write(store, { kind: "release", swapId: "later" });
    expect(db.prepare("SELECT count(*) FROM ledger").pluck().get()).toBe(0);
  });

  test("the day's dollars count what was sold since, and everything that is still reserved however old", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    addSwap(store, swapSample({ id: "old" }));
    store.transaction(() => {
      for (const swapId of ["a", "b", "c", "old"]) write(store, { kind: "value", swapId, usd: HUGE });
      write(store, { kind: "spend", swapId: "a", amount: 1n });
      write(store, { kind: "release", swapId: "b" });
    });
    expect(store.soldUsdSince(NOW_MS, "")).toBe(3n * HUGE);
    expect(store.soldUsdSince(NOW_MS, "c")).toBe(2n * HUGE);
    expect(store.soldUsdSince(NOW_MS + 1, "")).toBe(2n * HUGE);
  });

  test("the day's dollars count a swap from when it was sold, however long before it was planned", () => {
    const { store } = openDaemonDatabase();
    addSwap(store, swapSample({ id: "late" }));
    const DAYS_MS = 3 * 86_400_000;
    const owner = runSample({ swaps: [swapSample({ id: "late" })] });
    store.transaction(() => {
      store.writeRecord(owner, { kind: "value", swapId: "late", usd: HUGE }, NOW_MS);
      store.writeRecord(owner, { kind: "spend", swapId: "late", amount: 1n }, NOW_MS + DAYS_MS);
    });
    expect(store.soldUsdSince(NOW_MS + DAYS_MS, "")).toBe(HUGE);
    expect(store.soldUsdSince(NOW_MS + DAYS_MS + 1, "")).toBe(0n);
  });

  test("a sale that is seen by a clock that stands behind counts from its reservation: no day's cap is free for it", () => {
    const { store } = openDaemonDatabase();
    addSwap(store, swapSample({ id: "sold" }));
    const owner = runSample({ swaps: [swapSample({ id: "sold" })] });
    store.transaction(() => {
      store.writeRecord(owner, { kind: "value", swapId: "sold", usd: HUGE }, NOW_MS);
      store.writeRecord(owner, { kind: "spend", swapId: "sold", amount: 1n }, NOW_MS - 2 * 86_400_000);
    });
    expect(store.soldUsdSince(NOW_MS, "")).toBe(HUGE);
  });

  test("every change of what runs share makes older readings stale, and nothing else does", () => {
    const { store } = openDaemonDatabase();
    const owner = addRun(store, runSample({ swaps: [swapSample()] }));
    const changes = (record: RunRecord): boolean => {
      const before = store.ledgerVersion();
      store.writeRecord(owner, record, NOW_MS);
      return store.ledgerVersion() !== before;
    };
    const swapId = "run_1.0.1";
    expect(changes({ kind: "value", swapId, usd: 1n })).toBe(true);
    expect(changes({ kind: "spend", swapId, amount: 1n })).toBe(true);
    expect(changes({ kind: "unspend", swapId, amount: 1n })).toBe(true);
    expect(changes({ kind: "release", swapId })).toBe(true);
    expect(changes({ kind: "close-capability", swapId })).toBe(false);
    expect(changes({ kind: "route", swapId, distributions: "[]", serviceRecord: undefined })).toBe(false);
  });

  test("a change of one wallet leaves readings of the others fresh, or a crowd of strategies would never finish one", () => {
    const { store } = openDaemonDatabase();
    const owner = addRun(store, runSample({ swaps: [swapSample()] }));
    const versions = () => [WALLET, POOL, undefined].map((wallet) => store.ledgerVersion(wallet));
    const [own = 0, others, all = 0] = versions();
    store.writeRecord(owner, { kind: "value", swapId: "run_1.0.1", usd: 1n }, NOW_MS);
    expect(versions()).toEqual([own + 1, others, all + 1]);
    const swaps = [swapSample({ id: "run_2.0.1", runId: "run_2", recipient: POOL })];
    const gift = addRun(store, runSample({ id: "run_2", slotMs: 2, swaps }));
    const [ownThen = 0, othersThen = 0] = versions();
    store.writeRecord(gift, { kind: "value", swapId: "run_2.0.1", usd: 1n }, NOW_MS);
    expect(versions().slice(0, 2), "bought for another wallet").toEqual([ownThen + 1, othersThen + 1]);
  });
});

describe("the right to take a token", () => {
  const open = (swapId: string, token = USDC.address) =>
    ({ kind: "open-capability", swapId, wallet: WALLET, token, spender: ROUTER, untilSeconds: 99 }) as const;

  test("is live once for a wallet and token: a second one undoes its whole commit", () => {
    const { store, db } = openDaemonDatabase();
    threeSwaps(store);
    write(store, open("a"));
    const second = (): void =>
      store.transaction(() => {
        write(store, { kind: "release", swapId: "c" });
        write(store, open("b"));
      });
    expect(second).toThrow("UNIQUE");
    expect(store.reserved(WALLET, USDC.address)).toBe(2n * HUGE + 8n);
    write(store, open("b", WETH.address));
    write(store, { kind: "close-capability", swapId: "a" });
    write(store, open("c"));
    expect(db.prepare("SELECT swap_id, live, closed_at_ms FROM capabilities ORDER BY swap_id").all()).toEqual([
      { swap_id: "a", live: 0, closed_at_ms: NOW_MS },
      { swap_id: "b", live: 1, closed_at_ms: null },
      { swap_id: "c", live: 1, closed_at_ms: null },
    ]);
  });

  test("is remembered by who had it last, in the order of the rows: a wall clock that was a day ahead changes nothing", () => {
    const { store } = openDaemonDatabase();
    threeSwaps(store);
    const freed = () => store.lastFreed(WALLET, USDC.address);
    expect(freed()).toBeUndefined();
    write(store, open("b"), NOW_MS + 86_400_000);
    expect(freed(), "live still").toBeUndefined();
    write(store, { kind: "close-capability", swapId: "b" }, NOW_MS + 86_400_000);
    expect(freed()).toBe("b");
    expect(store.lastFreed(WALLET, WETH.address)).toBeUndefined();
    write(store, open("a"));
    write(store, { kind: "close-capability", swapId: "a" });
    expect(freed(), "the wall clock is right again").toBe("a");
  });

  test("keeps the token busy after its swap has ended, until it is closed: the old signature could still spend", () => {
    const { store } = openDaemonDatabase();
    addSwap(store, swapIn("final", { id: "a" }));
    write(store, open("a"));
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(true);
    expect(store.isTokenBusy(WALLET, USDC.address, "a")).toBe(false);
    write(store, { kind: "close-capability", swapId: "a" });
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(false);
  });

  test.each(SWAP_STATES)("a swap that is %s keeps its token busy only while it may take it", (state) => {
    const { store } = openDaemonDatabase();
    const isBusy = ["cleared", "approving", "signed", "submitted", "mined", "unknown"].includes(state);
    addSwap(store, swapIn(state, { id: "a", approvals: 0 }));
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(isBusy);
    expect(store.isTokenBusy(WALLET, USDC.address, "a")).toBe(false);
    expect(store.isTokenBusy(WALLET, WETH.address, "")).toBe(false);
    expect(store.isTokenBusy(POOL, USDC.address, "")).toBe(false);
  });

  test("quoted again after its approval, a swap owns the allowance that it asked for", () => {
    const { store } = openDaemonDatabase();
    addSwap(store, swapIn("quoted", { id: "a", approvals: 1 }));
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(true);
  });

  test("a revocation on its way keeps the token busy, and a sent one no longer does", () => {
    const { store, lanes } = openDaemonDatabase();
    const revocation = intentRow({ id: "r", purpose: "revoke", account: WALLET, to: USDC.address, value: 0n });
    lanes.insertIntent(revocation);
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(true);
    expect(store.isTokenBusy(WALLET, WETH.address, "")).toBe(false);
    lanes.updateIntent("r", { state: "dropped" });
    expect(store.isTokenBusy(WALLET, USDC.address, "")).toBe(false);
  });
});

describe("allowances that were granted", () => {
  const grant = { wallet: WALLET, token: USDC.address, spender: ROUTER };

  test("are noted once, are idle while nothing of wallet and token is open, and are forgotten by name", () => {
    const { store } = openDaemonDatabase();
    write(store, { kind: "grant", ...grant });
    write(store, { kind: "grant", ...grant });
    expect(store.idleGrants()).toEqual([grant]);
    addSwap(store, swapIn("submitted", { id: "a" }));
    expect(store.idleGrants()).toEqual([]);
    addSwap(store, swapIn("submitted", { id: "b", sell: WETH }));
    write(store, { kind: "grant", ...grant, token: WETH.address });
    write(store, { kind: "grant", ...grant, wallet: POOL });
    expect(store.idleGrants()).toEqual([{ ...grant, wallet: POOL }]);
    store.forgetGrant({ ...grant, wallet: POOL }, { number: 9, timestamp: 9 });
    expect(store.idleGrants()).toEqual([]);
  });
});

describe("signatures", () => {
  const intent: RunRecord = {
    kind: "intend-signature",
    swapId: "a",
    purpose: "swap",
    digest: hash("5a"),
    typedData: '{"a":1}',
    validUntilSeconds: 99,
  };

  test("are intended before they exist, and what is to be signed is found by its digest", () => {
    const { store, db } = openDaemonDatabase();
    addSwap(store, swapIn("cleared", { id: "a" }));
    expect(store.intendedSignature(hash("5a"))).toBeUndefined();
    write(store, intent, 10);
    expect(store.intendedSignature(hash("5a"))).toBe('{"a":1}');
    write(store, { kind: "signature", digest: hash("5a"), signature: hash("51") }, 20);
    expect(db.prepare("SELECT * FROM signatures").all()).toEqual([
      {
        ...{ digest: hash("5a"), swap_id: "a", kind: "swap", typed_data: '{"a":1}', valid_until_seconds: 99 },
        ...{ intended_at_ms: 10, signature: hash("51"), signed_at_ms: 20 },
      },
    ]);
  });

  test("are never intended twice for one digest", () => {
    const { store } = openDaemonDatabase();
    addSwap(store, swapIn("cleared", { id: "a" }));
    write(store, intent);
    expect(() => write(store, intent)).toThrow("UNIQUE");
  });
});

test("a route is kept alongside the swap, and what is reported later does not wipe out what was reported before", () => {
  const { store, db } = openDaemonDatabase();
  addSwap(store, swapIn("signed", { id: "a" }));
  write(store, { kind: "route", swapId: "a", distributions: "[1]", serviceRecord: undefined });
  write(store, { kind: "route", swapId: "a", distributions: undefined, serviceRecord: "{}" });
  const routes = db.prepare("SELECT distributions, service_record FROM swaps").get();
  expect(routes).toEqual({ distributions: "[1]", service_record: "{}" });
});

test("failures are counted by strategy and by the instant of their end, once each", () => {
  const { store } = openDaemonDatabase();
  const ended = (state: RunState, atMs: number, strategyId = "weekly"): void => {
    const id = `run_${state}_${atMs}_${strategyId}`;
    const failed = runSample({ id, state: "executing", strategyId, slotMs: SLOT_MS + atMs });
    addRun(store, failed);
    saveAs(store, { ...failed, state }, atMs);
    saveAs(store, { ...failed, state }, 1_000);
  };
  ended("failed", 10);
  ended("failed", 20);
  ended("filled", 21);
  ended("failed", 22, "other");
  expect([10, 11, 21].map((sinceMs) => store.failuresBetween("weekly", { sinceMs, untilMs: 40 }, []))).toEqual([
    2, 1, 0,
  ]);
});

test("the gross amount of a sample is what the database says is reserved", () => {
  const { store, db } = openDaemonDatabase();
  addRun(store, runSample({ swaps: [swapSample()] }));
  expect(db.prepare("SELECT swap_id, strategy, amount, usd, state, reserved_at_ms FROM ledger").all()).toEqual([
    {
      ...{ swap_id: "run_1.0.1", strategy: "weekly", amount: HUNDRED_USDC.toString(), usd: "0", state: "reserved" },
      reserved_at_ms: NOW_MS,
    },
  ]);
});
