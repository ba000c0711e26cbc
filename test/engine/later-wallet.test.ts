import { expect, test } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { buildEntries } from "../../src/app/books/build-entries.ts";
import { withOpeningLots } from "../../src/app/books/opening-lots.ts";
import { keepLots } from "../../src/domain/books/lots.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { policySample, SLOT_MS, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../support/engine-life.ts";

const COLD = toAddress(`0x${"77".repeat(20)}`);

test("a recipient that becomes a wallet later is not counted twice, and not dated back", async () => {
  const outside = createOutside(SLOT_MS - 1_500, { recipient: COLD });
  const settings = { policy: policySample({ recipients: [ACCOUNT, COLD] }) };
  const first = openLife(outside, { settings });
  await first.engine.start();
  await turn(outside, first, 200);
  await first.engine.stop();
  const held = outside.chain.ledger.balance(WETH.address, COLD);
  expect(held).toBeGreaterThan(0n);
  first.db.close();
  const second = openLife(outside, { settings: { ...settings, strategies: [] } });
  const { deps } = second.context;
  const other = [...deps.signers.values()].map((signer) => [COLD, { ...signer, address: COLD }] as const);
  Object.assign(deps, { signers: new Map([...deps.signers, ...other]) });
  await second.engine.start();
  await turn(outside, second, 60);
  const rows = await createReadModel(second.db).books();
  const found = buildEntries(rows, { nativeSymbol: "ETH", ownWallets: new Set([ACCOUNT, COLD]) });
  const { lots } = keepLots(withOpeningLots(found, []), { method: "fifo", orders: [] });
  const cold = lots.filter(({ wallet, asset }) => wallet === COLD && asset.address === WETH.address);
  expect(second.errors).toEqual([]);
  expect(cold.reduce((sum, { raw }) => sum + raw, 0n)).toBe(held);
  for (const { wallet, blockNumber, blockTimeSeconds } of rows.baselines.filter((row) => row.wallet === COLD))
    expect([wallet, blockTimeSeconds]).toEqual([COLD, (await outside.chain.block(blockNumber))?.timestamp]);
  expect(rows.baselines.filter(({ wallet }) => wallet === COLD)).not.toEqual([]);
});
