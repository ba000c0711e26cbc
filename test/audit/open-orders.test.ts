import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { AuditReport } from "../../src/audit/report.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { DEPLOYER } from "./support/chain.ts";
import { buildWorld, type Copy, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.stop());

const AMOUNT = 50_000n;
const FAR = 3_000_000_000;

/** An order of another service that is signed and open, filled or not. */
function order({ foreignTrader, chain }: Copy, record: "submitted" | "not executed", amount = AMOUNT) {
  const { USDC, WETH } = chain.tokens;
  return foreignTrader.swapGasless({ id: "order", sell: USDC, buy: WETH, amount }, record);
}

/** A fill of that service that has no row. */
async function take({ foreignTrader, chain, journal }: Copy, token: "USDC" | "DAI", amount: bigint): Promise<Hex> {
  const other = token === "USDC" ? chain.tokens.WETH : chain.tokens.USDC;
  const hash = await foreignTrader.swapGasless({ id: "lost", sell: chain.tokens[token], buy: other, amount });
  for (const table of ["signatures", "ledger", "capabilities"])
    journal.run(`DELETE FROM ${table} WHERE swap_id = 'lost'`);
  for (const id of ["lost", "run-lost"]) journal.run("DELETE FROM transitions WHERE subject_id = ?", id);
  journal.run("DELETE FROM swaps WHERE id = 'lost'");
  journal.run("DELETE FROM runs WHERE id = 'run-lost'");
  return hash as Hex;
}

/** Verdicts about money that left, each with what left. */
const outflows = ({ differences }: AuditReport): string[] =>
  differences
    .filter(({ code }) => code === "UNEXPLAINED_OUTFLOW" || code === "OUTFLOW_OF_OPEN_SWAP")
    .map(({ code, fields }) => `${code} ${fields.amount}`)
    .sort();

test("names the open order that an outflow may be the fill of, and is not clean", async () => {
  let hash: Hex | undefined;
  const report = await world.auditAfter(async (copy) => {
    hash = await order(copy, "submitted");
  });
  expect(report.clean).toBe(false);
  expect(report.differences).toEqual([
    {
      code: "OUTFLOW_OF_OPEN_SWAP",
      subject: "swap order",
      message: expect.stringMatching(
        /^0[.]05 USDC left .* in 0x.*: perhaps the fill of swap order, signed at 1970-01-01T00:00:00[.]002Z for up to 0[.]05 USDC[.] .* audit again[.]$/,
      ),
      fields: expect.objectContaining({ amount: "50000", signed: "50000", hash, swap: "order", state: "submitted" }),
    },
  ]);
  expect(report.openSwaps).toContainEqual(expect.objectContaining({ id: "order", landed: null }));
});

test("names an order of which it is not known whether it was submitted", async () => {
  const report = await world.auditAfter(async (copy) => {
    await order(copy, "submitted");
    copy.journal.run("UPDATE swaps SET state = 'unknown' WHERE id = 'order'");
    copy.journal.run(
      "UPDATE transitions SET to_state = 'unknown' WHERE subject_id = 'order' AND to_state = 'submitted'",
    );
  });
  expect(outflows(report)).toEqual(["OUTFLOW_OF_OPEN_SWAP 50000"]);
});

test("names the order for a part of what was signed, also where its signature has no nonce", async () => {
  const report = await world.auditAfter(async (copy) => {
    await order(copy, "not executed", AMOUNT + 1n);
    await take(copy, "USDC", AMOUNT);
    copy.journal.run("UPDATE swaps SET nonce = NULL WHERE id = 'order'");
  });
  expect(outflows(report)).toEqual(["OUTFLOW_OF_OPEN_SWAP 50000"]);
});

test("names an open order once: a second outflow stays unexplained, and the largest that fits is the one named", async () => {
  const report = await world.auditAfter(async (copy) => {
    await take(copy, "USDC", 20_000n);
    await order(copy, "submitted");
  });
  expect(outflows(report)).toEqual(["OUTFLOW_OF_OPEN_SWAP 50000", "UNEXPLAINED_OUTFLOW 20000"]);
});

test("names no order that another transaction is known to have filled", async () => {
  const report = await world.auditAfter(async (copy) => {
    await order(copy, "submitted");
    await take(copy, "USDC", 20_000n);
    copy.journal.run("UPDATE swaps SET nonce = NULL WHERE id = 'order'");
  });
  expect(outflows(report)).toEqual(["UNEXPLAINED_OUTFLOW 20000"]);
});

describe("an outflow stays unexplained that an open order cannot have caused", () => {
  const CASES: readonly (readonly [hazard: string, spoil: (copy: Copy) => Promise<unknown>])[] = [
    [
      "more than was signed",
      async (copy) => {
        await order(copy, "not executed", AMOUNT - 1n);
        await take(copy, "USDC", AMOUNT);
      },
    ],
    [
      "another token",
      async (copy) => {
        await order(copy, "not executed");
        await take(copy, "DAI", AMOUNT);
      },
    ],
    [
      "before it was signed",
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE signatures SET signed_at_ms = ? WHERE swap_id = 'order'", FAR * 1_000);
      },
    ],
    [
      "after its deadline",
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE signatures SET valid_until_seconds = 3 WHERE swap_id = 'order' AND kind = 'swap'");
      },
    ],
    [
      "an order that was never signed",
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE signatures SET signature = NULL, signed_at_ms = NULL WHERE swap_id = 'order'");
      },
    ],
    [
      "an order that has ended",
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE swaps SET state = 'expired' WHERE id = 'order'");
      },
    ],
    [
      "less brought to the recipient than was signed",
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE swaps SET amount_out_min = '1000000' WHERE id = 'order'");
      },
    ],
    [
      "nothing brought to the recipient",
      async (copy) => {
        const { usdc } = copy.chain.contracts;
        await order(copy, "not executed");
        const approval = usdc.abi.encodeFunctionData("approve", [DEPLOYER, AMOUNT]) as Hex;
        await copy.foreignTrader.perform({ id: "sly", purpose: "approve", to: usdc.address, data: approval });
        const theft = usdc.abi.encodeFunctionData("transferFrom", [copy.chain.wallet.address, DEPLOYER, AMOUNT]);
        await copy.chain.send(DEPLOYER, usdc.address, theft as Hex);
      },
    ],
    [
      "a transaction of the wallet's own key",
      async (copy) => {
        const { USDC, WETH } = copy.chain.tokens;
        await copy.foreignTrader.swapSelfExecuted({ id: "lost", sell: USDC, buy: WETH, amount: AMOUNT });
        copy.journal.run("UPDATE swaps SET intent_id = NULL, hash = NULL, state = 'expired' WHERE id = 'lost'");
        await order(copy, "not executed");
      },
    ],
  ];
  test.each(CASES)("%s", async (_hazard, spoil) => {
    expect(outflows(await world.auditAfter(spoil))).toEqual(["UNEXPLAINED_OUTFLOW 50000"]);
  });

  test("an order for our own settlement contract, whose events name every fill", async () => {
    const report = await world.auditAfter((copy) => order(copy, "submitted"), {
      settlement: world.chain.contracts.foreignSettlement.address,
    });
    expect(outflows(report)).toEqual([]);
    const nameless = await world.auditAfter(
      async (copy) => {
        await order(copy, "submitted");
        copy.journal.run("UPDATE swaps SET nonce = '7' WHERE id = 'order'");
      },
      { settlement: world.chain.contracts.foreignSettlement.address },
    );
    expect(outflows(nameless)).toEqual(["UNEXPLAINED_OUTFLOW 50000"]);
  });
});
