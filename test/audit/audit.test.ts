import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { audit } from "../../src/audit/audit.ts";
import { AuditError } from "../../src/audit/report.ts";
import { startBareAnvil } from "../support/anvil.ts";
import { openToSpoil } from "./support/journal.ts";
import { buildWorld, codesOf, optionsFor, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

const folder = mkdtempSync(join(tmpdir(), "swapd-audit-test-"));
const stateFile = join(folder, "chain.json");
const spoiltFile = join(folder, "spoilt.db");

let world: World;
let restarted: Awaited<ReturnType<typeof startBareAnvil>>;
beforeAll(async () => {
  world = await buildWorld(["--state", stateFile]);
  await world.chain.stop();
  restarted = await startBareAnvil({ onDemand: true, flags: ["--load-state", stateFile] });
  copyFileSync(world.database, spoiltFile);
  const spoilt = openToSpoil(spoiltFile);
  for (const table of ["lane_attempts", "lane_signings", "lane_intents"]) {
    spoilt.run(`DELETE FROM ${table} WHERE nonce = 0`);
  }
  spoilt.close();
});
afterAll(async () => {
  await restarted.stop();
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

const optionsOf = (database: string) => ({ ...optionsFor(world.chain, database), rpcUrl: restarted.rpcUrl });

test("audits a chain that was stopped and started again without a new block", async () => {
  const report = await audit(optionsOf(world.database));
  expect(report.differences).toEqual([]);
  expect(report.checked.fills).toBe(5);
});

test("finds a foreign transaction before the first of ours in blocks where the node keeps no old state", async () => {
  const report = await audit(optionsOf(spoiltFile));
  expect(codesOf(report)).toEqual(["BALANCE_DIFFERS", "FOREIGN_NONCE"]);
  expect(report.notes).toEqual([]);
});

test("says so where these blocks are too many to read", async () => {
  const report = await audit({ ...optionsOf(spoiltFile), maxScannedBlocks: 0 });
  expect(codesOf(report)).toEqual(["BALANCE_DIFFERS"]);
  expect(report.notes).toEqual([expect.stringMatching(/were not looked for: \d+ blocks/)]);
});

test("reports how far it is", async () => {
  const steps: [number, number][] = [];
  await audit({ ...optionsOf(world.database), onProgress: (done, total) => steps.push([done, total]) });
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.at(-1)?.[0]).toBe(steps.at(-1)?.[1]);
});

test("refuses a chain of another id", async () => {
  const error = await failureOf({ ...optionsOf(world.database), chainId: 1 });
  expect(error.code).toBe("WRONG_CHAIN");
  expect(error.message).toContain("chain 31337");
});

test("refuses the database of another chain", async () => {
  const file = join(folder, "other-chain.db");
  copyFileSync(world.database, file);
  const journal = openToSpoil(file);
  journal.run("UPDATE identity SET chain_id = 5");
  journal.close();
  const error = await failureOf(optionsOf(file));
  expect(error.code).toBe("WRONG_CHAIN");
});

test.each([
  ["is not there", undefined],
  ["is no database", "not a database at all, but long enough to look like a file of some kind"],
  ["has no tables", ""],
])("says that a database cannot be audited that %s", async (_what, content) => {
  const file = join(folder, "broken.db");
  rmSync(file, { force: true });
  if (content !== undefined) writeFileSync(file, content);
  const error = await failureOf(optionsOf(file));
  expect(error.code).toBe("DATABASE_UNREADABLE");
  expect(error.message).toContain("broken.db");
});

test("names the host of an endpoint that does not answer, and never the rest of its URL", async () => {
  const rpcUrl = "http://127.0.0.1:9/secret-key-in-path";
  const error = await failureOf({ ...optionsOf(world.database), rpcUrl });
  expect(error.code).toBe("CHAIN_UNREADABLE");
  expect(error.message).toContain("127.0.0.1:9");
  expect(error.message).not.toContain("secret-key-in-path");
});

async function failureOf(options: Parameters<typeof audit>[0]): Promise<AuditError> {
  const outcome = await audit(options).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(AuditError);
  return outcome as AuditError;
}
