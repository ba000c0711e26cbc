import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { audit } from "../../src/audit/audit.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { buildWorld, codesOf, optionsFor, type World } from "./support/world.ts";

// Each test audits a chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

let world: World;
let since: { readonly block: number };
beforeAll(async () => {
  world = await buildWorld();
  const whole = await audit(optionsFor(world.chain, world.database));
  expect(whole.clean).toBe(true);
  // The gasless fill and what follows it: four fills lie before.
  let block = 0;
  await world.auditAfter(({ journal }) => {
    block = Number(journal.get("SELECT block_number FROM swaps WHERE id = 'gasless'"));
  });
  since = { block };
});
afterAll(() => world.stop());

test("what came since is checked against the chain, and what came before is not read", async () => {
  const report = await audit({ ...optionsFor(world.chain, world.database), since });
  expect(report.differences).toEqual([]);
  expect(report.checked.fills).toBeGreaterThanOrEqual(1);
  expect(report.checked.blocks).toBeLessThan(report.tip.number);
  expect(report.openSwaps.map(({ id }) => id)).toEqual(["open"]);
});

test.each([
  [
    "a fill with another amount",
    "UPDATE swaps SET sold = '1' WHERE id = 'gasless'",
    ["LEDGER_DIFFERS", "SOLD_DIFFERS"],
  ],
  ["a ledger that forgot a fill", "DELETE FROM ledger WHERE swap_id = 'gasless'", ["LEDGER_MISSING"]],
  ["a right that is not recorded", "UPDATE capabilities SET live = 0 WHERE swap_id = 'open'", ["CAPABILITY_MISSING"]],
] as const)("reports %s", async (_hazard, sql, codes) => {
  const report = await world.auditAfter(({ journal }) => journal.run(sql), { since });
  expect(codesOf(report)).toEqual(codes);
});

test("reports tokens that left since and that no swap explains", async () => {
  const report = await world.auditAfter(
    async ({ chain, trader }) => {
      const { abi } = chain.contracts.usdc;
      const data = abi.encodeFunctionData("transfer", [`0x${"57".repeat(20)}`, 7n]) as Hex;
      await trader.perform({ id: "sly", purpose: "approve", to: chain.tokens.USDC.address, data });
    },
    { since },
  );
  expect(codesOf(report)).toContain("UNEXPLAINED_OUTFLOW");
});

test("an instant is the first block of that time", async () => {
  const tip = (await world.chain.rpc.call("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: string };
  const seconds = Number(tip.timestamp);
  const report = await audit({ ...optionsFor(world.chain, world.database), since: { seconds } });
  expect(report.differences).toEqual([]);
  expect(report.tip.seconds).toBe(seconds);
  expect(report.checked.blocks).toBeGreaterThanOrEqual(1);
  expect(report.checked.blocks).toBeLessThan(report.tip.number);
});

test.each([
  ["a block", { block: 1_000_000 }],
  ["an instant", { seconds: Math.floor(Date.now() / 1_000) + 10 ** 6 }],
])("%s that the chain has not come to is refused: nothing would be looked at, and called clean", async (_what, at) => {
  const beyond = { ...optionsFor(world.chain, world.database), since: at };
  await expect(audit(beyond)).rejects.toMatchObject({ code: "NOTHING_SINCE" });
});
