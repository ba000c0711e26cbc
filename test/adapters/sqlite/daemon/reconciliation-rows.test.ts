import { expect, test } from "vitest";
import type { Finding } from "../../../../src/ports/reconciliation-store.ts";
import { NOW_MS, ROUTER, USDC, WALLET } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

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
  store.adoptGrant(GRANT, NOW_MS);
  // A look that read the allowance before it was accepted writes it down after that.
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(false);
  store.forgetGrant(GRANT);
  expect(store.addDifference(ALLOWANCE, NOW)).toBe(true);
  expect(store.openDifferences()).toHaveLength(1);
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
