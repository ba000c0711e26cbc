import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import type { SwapState } from "../../src/domain/run/states.ts";
import { runHere } from "../e2e/support/run-here.ts";
import { runSample, swapSample } from "../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../support/daemon-database.ts";
import { makeExampleHome } from "../support/example-file.ts";

const GONE = toAddress("0x00000000000000000000000000000000000000aa");

/** What `swapd check --offline` says beside a database of a network, with a swap of a wallet that is gone. */
async function checkBeside(network: { name: string; chainId: number }, state: SwapState): Promise<string> {
  const { folder, file, write } = makeExampleHome();
  write("live");
  const { store, db } = openDaemonDatabase(join(folder, "swapd.db"));
  store.saveIdentity({ network: network.name, chainId: network.chainId, atMs: 1 });
  addStrategy(store);
  addRun(store, runSample({ state: "executing", swaps: [swapSample({ state, wallet: GONE })] }));
  db.close();
  const { code, out } = await runHere(folder, ["check", "--offline", "--config", file]);
  expect(code).toBe(out.includes("PROBLEM") ? 1 : 0);
  return out;
}

const BASE = { name: "base", chainId: 8_453 };

test("a wallet that was taken away with a swap of it signed, on which no start goes on, is a problem before the start", async () => {
  const said = await checkBeside(BASE, "submitted");
  expect(said).toContain("PROBLEM  database");
  expect(said).toMatch(new RegExp(`is open \\(submitted\\) and belongs to wallet ${GONE}.* -> put the wallet back`));
  expect(await checkBeside(BASE, "quoted"), "nothing of it is signed").not.toContain("PROBLEM");
});

test("a database of another network, on which no start goes on, is a problem before the start", async () => {
  const said = await checkBeside({ name: "mainnet", chainId: 1 }, "quoted");
  expect(said).toMatch(/PROBLEM {2}database .*belongs to mainnet \(chain 1\), the configuration names base/);
});

test("a database that cannot be read by who checks keeps nothing from being found", async () => {
  const { folder, file, write } = makeExampleHome();
  write("live");
  writeFileSync(join(folder, "swapd.db"), "x".repeat(5_000));
  const { code, out } = await runHere(folder, ["check", "--offline", "--config", file]);
  expect([code, out]).toEqual([0, expect.stringContaining("was not looked at")]);
});
