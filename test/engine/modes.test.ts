import { expect, test } from "vitest";
import { OPERATING_MODES, stricterMode } from "../../src/domain/run/operating-mode.ts";
import { modeOf, revokingModeOf } from "../../src/engine/modes.ts";
import type { Difference } from "../../src/ports/reconciliation-store.ts";
import { dcaSpec, WALLET } from "../support/builders.ts";
import { type DaemonDatabase, openDaemonDatabase } from "../support/daemon-database.ts";

const effectiveMode = async (store: DaemonDatabase["store"], strategyId: string) =>
  modeOf(strategyId, await store.read({ kind: "strategy", strategyId }));

const row = { setBy: "ops", reason: "r", atMs: 1 } as const;

test("without any row everything is active, by default", async () => {
  expect(await effectiveMode(openDaemonDatabase().store, "weekly")).toMatchObject({ mode: "active", setBy: "nobody" });
});

test("the stricter of the two modes holds, with who set it and why", async () => {
  for (const global of OPERATING_MODES) {
    for (const own of OPERATING_MODES) {
      const { store } = openDaemonDatabase();
      store.setMode({ ...row, scope: "global", mode: global, reason: "global" });
      store.setMode({ ...row, scope: "weekly", mode: own, reason: "own" });
      const found = await effectiveMode(store, "weekly");
      expect(found.mode).toBe(stricterMode(global, own));
      expect([global, own][found.reason === "global" ? 0 : 1]).toBe(found.mode);
      expect((await effectiveMode(store, "other")).mode).toBe(global);
    }
  }
});

test("the modes are ordered by how much they forbid", () => {
  expect(OPERATING_MODES).toEqual(["active", "exits-only", "paused", "halted"]);
  for (const mode of OPERATING_MODES) {
    expect(stricterMode(mode, "active")).toBe(mode);
    expect(stricterMode("halted", mode)).toBe("halted");
  }
});

type Barring = [what: string, change: Partial<Difference>, isRevocable: boolean];

test.each<Barring>([
  ["what cannot be proved", {}, true],
  ["what was not checked", { kind: "unchecked" }, false],
  ["a lost database", { kind: "lost" }, false],
  ["an unknown transaction", { kind: "nonce" }, false],
  ["a token that refuses its allowance", { scope: "token" }, false],
])(
  "of all that bars signing, only what cannot be proved bars no revocation of what an order leaves: %s",
  (_what, change, isRevocable) => {
    const spec = { ...dcaSpec(), wallet: { name: "main", address: WALLET }, gasless: "prefer" } as const;
    const difference: Difference = {
      ...{ id: 1, key: "cannot-prove", wallet: WALLET, token: undefined, kind: "cannot-prove", scope: "gasless" },
      ...{ text: "cannot prove it", facts: {}, foundAtMs: 0, foundSinceBoot: undefined },
      ...change,
    };
    const rows = { modes: { global: undefined, own: undefined }, differences: [difference], spec };
    expect(modeOf("weekly", rows).mode).toBe("halted");
    expect(revokingModeOf("weekly", rows).mode).toBe(isRevocable ? "active" : "halted");
    const halted = { ...rows, modes: { global: { ...row, scope: "global", mode: "halted" }, own: undefined } } as const;
    expect(revokingModeOf("weekly", halted).mode).toBe("halted");
  },
);
