import { expect, test } from "vitest";
import type { Finding } from "../../../../src/ports/reconciliation-store.ts";
import { NOW_MS, ROUTER, USDC, WALLET } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

const GRANT = { wallet: WALLET, token: USDC.address, spender: ROUTER };
const ALLOWANCE: Finding = {
  ...{ key: `allowance ${WALLET} ${USDC.address} ${ROUTER} 77`, wallet: WALLET, token: USDC.address },
  ...{ kind: "allowance", scope: "token", text: "77 of USDC" },
  facts: { token: USDC.address, spender: ROUTER, amount: "77" },
};

test("an allowance that was accepted and taken back is found anew when somebody gives the same again", () => {
  const { store } = openDaemonDatabase();
  expect(store.addDifference(ALLOWANCE, NOW_MS)).toBe(true);
  expect(store.addDifference(ALLOWANCE, NOW_MS)).toBe(false);
  const [found] = store.openDifferences();
  store.settleDifference(found?.id ?? 0, { by: "anna", atMs: NOW_MS });
  store.adoptGrant(GRANT, NOW_MS);
  // A look that read the allowance before it was accepted writes it down after that.
  expect(store.addDifference(ALLOWANCE, NOW_MS)).toBe(false);
  store.forgetGrant(GRANT);
  expect(store.addDifference(ALLOWANCE, NOW_MS)).toBe(true);
  expect(store.openDifferences()).toHaveLength(1);
});

test("what a person accepted is not found again, and what the chain settled is", () => {
  const { store } = openDaemonDatabase();
  for (const by of ["anna", "chain"]) {
    const nonce: Finding = { ...ALLOWANCE, key: `nonce ${by}`, kind: "nonce", facts: { count: "3" } };
    store.addDifference(nonce, NOW_MS);
    for (const { id } of store.openDifferences()) store.settleDifference(id, { by, atMs: NOW_MS });
    expect(store.addDifference(nonce, NOW_MS)).toBe(by === "chain");
  }
});
