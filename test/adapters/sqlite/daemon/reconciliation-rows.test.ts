import { describe, expect, test } from "vitest";
import type { SwapState } from "../../../../src/domain/run/states.ts";
import type { Finding } from "../../../../src/ports/reconciliation-store.ts";
import { readMigrations } from "../../../../src/storage/migrations.ts";
import { NOW_MS, ROUTER, USDC, WALLET } from "../../../support/builders.ts";
import { addStrategy, addSwap, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { intentRow } from "../../../support/lane-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

const NOW = { ms: NOW_MS, sinceBoot: { id: "boot", ms: 7 } };
const GRANT = { wallet: WALLET, token: USDC.address, spender: ROUTER };
const ALLOWANCE: Finding = {
  ...{ key: `allowance ${WALLET} ${USDC.address} ${ROUTER} 77`, wallet: WALLET, token: USDC.address },
  ...{ kind: "allowance", scope: "token", text: "77 of USDC" },
  facts: { token: USDC.address, spender: ROUTER, amount: "77" },
};

test("an allowance that was accepted and taken back is found anew when somebody gives the same again", () => {
  const { store } = openDaemonDatabase();
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(true);
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(false);
  const [found] = store.openDifferences();
  store.settleDifference(found?.id ?? 0, { by: "anna", atMs: NOW_MS });
  store.adoptGrant(GRANT, { block: 7, atMs: NOW_MS });
  // A check that read the allowance before it was accepted writes it down after that.
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(false);
  store.forgetGrant(GRANT, { number: 6, timestamp: 9 });
  expect(store.hasGrant(GRANT)).toBe(true);
  store.forgetGrant(GRANT, { number: 9, timestamp: 9 });
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(true);
  expect(store.openDifferences()).toHaveLength(1);
});

test("a wallet that was checked is so in the rows that are read next, and again unchecked where that was taken back", () => {
  const { store } = openDaemonDatabase();
  const unchecked = (wallet: typeof WALLET): Finding => ({
    ...{ ...ALLOWANCE, key: `unchecked ${wallet}`, wallet, kind: "unchecked", scope: "wallet", token: undefined },
  });
  store.addDifference(ALLOWANCE, NOW);
  for (const wallet of [WALLET, ROUTER]) store.addDifference(unchecked(wallet), NOW);
  const left = () => store.openDifferences().map(({ kind, wallet }) => [kind, wallet]);
  expect(left()).toEqual([["allowance", WALLET], ...[WALLET, ROUTER].map((wallet) => ["unchecked", wallet])]);
  const fault = new Error("the disk is full");
  const checkInVain = (): void =>
    store.transaction(() => {
      store.removeUnchecked(WALLET);
      expect(left()).toHaveLength(2);
      throw fault;
    });
  expect(checkInVain).toThrow(fault);
  expect(left()).toHaveLength(3);
  store.removeUnchecked(WALLET);
  expect(left()).toEqual([
    ["allowance", WALLET],
    ["unchecked", ROUTER],
  ]);
});

test("what a person accepted is not found again, and what the chain settled is", () => {
  const { store } = openDaemonDatabase();
  for (const by of ["anna", "chain"]) {
    const nonce: Finding = { ...ALLOWANCE, key: `nonce ${by}`, kind: "nonce", facts: { count: "3" } };
    store.addDifference(nonce, NOW);
    for (const { id } of store.openDifferences()) store.settleDifference(id, { by, atMs: NOW_MS });
    expect(store.addDifference(nonce, NOW)).toBe(by === "chain");
  }
});

test("what is found again after the chain had settled it is as old, and says, as it was found now", () => {
  const { store } = openDaemonDatabase();
  const lost: Finding = { ...ALLOWANCE, key: "lost", kind: "lost", text: "3 steps", facts: { signatures: "3" } };
  store.addDifference(lost, NOW);
  for (const { id } of store.openDifferences()) store.settleDifference(id, { by: "chain", atMs: NOW_MS });
  const later = { ms: NOW_MS + 60_000, sinceBoot: { id: "next boot", ms: 1 } };
  expect(store.addDifference({ ...lost, text: "5 steps", facts: { signatures: "5" } }, later)).toBe(true);
  expect(store.openDifferences()).toMatchObject([
    { text: "5 steps", facts: { signatures: "5" }, foundAtMs: later.ms, foundSinceBoot: later.sinceBoot },
  ]);
});

test("what an older release found and a person accepted is known by the key that it is found with today", () => {
  const { store, db } = openDaemonDatabase();
  const hash = `0x${"ab".repeat(32)}`;
  const fill = { ...ALLOWANCE, token: undefined, kind: "fill", facts: { sell: USDC.address, hash } } as const;
  const outflow = { ...ALLOWANCE, kind: "outflow", facts: { token: USDC.address, hash } } as const;
  store.addDifference({ ...fill, key: `fill ${hash} 7` }, NOW);
  // As text the one after the other way round.
  for (const place of [110, 9]) store.addDifference({ ...outflow, key: `outflow ${hash} ${place}` }, NOW);
  store.addDifference(ALLOWANCE, NOW);
  for (const { id } of store.openDifferences()) store.settleDifference(id, { by: "anna", atMs: NOW_MS });
  const migrations = readMigrations(new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url));
  db.exec(migrations.find(({ name }) => name === "findings-mined-again")?.sql ?? "");
  expect(db.prepare("SELECT key FROM differences ORDER BY id").pluck().all()).toEqual([
    `fill ${WALLET} ${hash} #0`,
    `outflow ${WALLET} ${hash} ${USDC.address} #1`,
    `outflow ${WALLET} ${hash} ${USDC.address} #0`,
    ALLOWANCE.key,
  ]);
});

describe("a fill with the nonce of an order", () => {
  const knowsNonceOf = (state: SwapState): boolean => {
    const { store } = openDaemonDatabase();
    addStrategy(store);
    addSwap(store, swapIn(state, { mode: "gasless" }));
    return store.knowsNonce(WALLET, 7n);
  };

  test.each(["signed", "submitted", "unknown", "mined", "confirmed", "final"] as const)(
    "is that order's own while it is %s",
    (state) => expect(knowsNonceOf(state)).toBe(true),
  );

  test.each(["cleared", "expired", "cancelled", "reverted"] as const)(
    "is no row's where the order is only %s: its money is free, and counts nowhere as sold",
    (state) => expect(knowsNonceOf(state)).toBe(false),
  );
});

test("how often was signed for never falls, also when the newest row of it is archived", () => {
  const { store, lanes, db } = openDaemonDatabase();
  expect(store.databaseState().signings).toBe(0);
  // A nonce below one that was given later was signed for last.
  for (const nonce of [6, 5]) {
    lanes.insertIntent(intentRow({ id: `tx_${nonce}`, state: "final", nonce, outcome: "cancelled" }));
    lanes.insertSigning({
      ...{ intentId: `tx_${nonce}`, kind: "original", nonce, to: WALLET, data: "0x", value: 0n },
      ...{ gasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n, visibility: "public", atMs: NOW_MS },
    });
  }
  expect(store.databaseState().signings).toBe(2);
  store.transaction(() => {
    db.exec("INSERT INTO lane_leaving VALUES ('tx_5'); DELETE FROM lane_signings WHERE intent_id = 'tx_5'");
    db.exec("DELETE FROM lane_intents WHERE id = 'tx_5'; DELETE FROM lane_leaving");
  });
  expect(store.databaseState().signings).toBe(2);
});
