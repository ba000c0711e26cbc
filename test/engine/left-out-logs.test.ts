import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { Receipt } from "../../src/ports/chain.ts";
import { HUNDRED_USDC, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { keptTotals, recount } from "../support/recount.ts";
import { replayAll } from "../support/replays.ts";

const HELD = 1_000_000_000n;

/** A budget for one swap, and slots that would take more; `seen` says what a node shows of a receipt at its n-th read. */
async function begin(
  gasless: string,
  seen: (receipt: Receipt, read: number, isFinal: boolean) => Receipt,
  seconds = 30,
) {
  const change = { id: "dca", gasless, schedule: { kind: "every", seconds }, budget: { total: HUNDRED_USDC } };
  const outside = createOutside(SLOT_MS - 1_500, change as unknown as Partial<StrategySpec>);
  const { chain } = outside;
  for (let block = 0; block < 6; block += 1) chain.mine();
  const life = openLife(outside);
  const receiptOf = chain.receipt.bind(chain);
  const reads = new Map<string, number>();
  chain.receipt = async (hash) => {
    const receipt = await receiptOf(hash);
    if (receipt === undefined) return receipt;
    const read = (reads.get(hash) ?? 0) + 1;
    reads.set(hash, read);
    return seen(receipt, read, receipt.blockNumber <= (await chain.finalized()).number);
  };
  await life.engine.start();
  const rows = () => life.db.prepare("SELECT state, sold, bought FROM swaps ORDER BY rowid").all();
  const end = async () => {
    const spent = life.db.prepare("SELECT state, amount FROM ledger").all();
    const sold = HELD - (await chain.balance(USDC.address, ACCOUNT));
    await life.engine.stop();
    expect(life.errors).toEqual([]);
    expect(keptTotals(life.db)).toEqual(recount(life.db));
    expect(replayAll(outside.file).problems).toEqual([]);
    return { sold, spent };
  };
  return { outside, life, rows, end };
}

const MODES = [["never"], ["only"]];
const ONCE = { sold: HUNDRED_USDC, spent: [{ state: "spent", amount: HUNDRED_USDC.toString() }] };

test.each(MODES)(
  "a receipt without its logs is not counted as nothing sold: it is read again (gasless: %s)",
  async (gasless) => {
    const { outside, life, rows, end } = await begin(gasless, (receipt, read) =>
      read < 4 ? { ...receipt, logs: [] } : receipt,
    );
    await turn(outside, life, 130);
    const [swap] = rows() as { sold: string; bought: string }[];
    expect(rows()).toEqual([{ state: "final", sold: HUNDRED_USDC.toString(), bought: swap?.bought }]);
    expect(outside.reported.map(({ code }) => code)).not.toContain("FILL_UNMEASURED");
    expect(await end()).toEqual(ONCE);
  },
);

test.each(MODES)(
  "what no receipt shows is counted from its final block on, as the worst that was signed, and reported (gasless: %s)",
  async (gasless) => {
    const { outside, life, rows, end } = await begin(gasless, (receipt) => ({ ...receipt, logs: [] }));
    const isSeen = () => rows().some((row) => (row as { state: string }).state === "mined");
    expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isSeen })).toBe(true);
    await turn(outside, life, 2);
    expect(rows()).toMatchObject([{ state: "mined" }]);
    expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["reserved"]);
    await turn(outside, life, 130);
    const minimum = life.db.prepare("SELECT amount_out_min FROM swaps").pluck().get();
    expect(rows()).toEqual([{ state: "final", sold: HUNDRED_USDC.toString(), bought: minimum }]);
    expect(outside.reported.filter(({ code }) => code === "FILL_UNMEASURED")).toHaveLength(1);
    expect(await end()).toEqual(ONCE);
  },
);

test.each(MODES)(
  "what was counted from a part of the logs is corrected when the block is final (gasless: %s)",
  async (gasless) => {
    const part = (receipt: Receipt): Receipt => ({
      ...receipt,
      logs: receipt.logs.map((log) =>
        log.address === USDC.address ? { ...log, data: `0x${"1".padStart(64, "0")}` as const } : log,
      ),
    });
    const seen = (receipt: Receipt, _read: number, isFinal: boolean) => (isFinal ? receipt : part(receipt));
    const { outside, life, rows, end } = await begin(gasless, seen, 60);
    const isCounted = () => rows().some((row) => (row as { state: string }).state === "confirmed");
    expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isCounted })).toBe(true);
    expect(rows()).toMatchObject([{ state: "confirmed", sold: "1" }]);
    await turn(outside, life, 10);
    expect(rows()[0]).toMatchObject({ state: "final", sold: HUNDRED_USDC.toString() });
    expect(await end()).toEqual(ONCE);
  },
);

test.each(MODES)(
  "a receipt that one node shows without its logs is asked of the others, and counts in time (gasless: %s)",
  async (gasless) => {
    const { outside, life, rows, end } = await begin(gasless, (receipt) => ({ ...receipt, logs: [] }), 60);
    const { chain } = outside;
    const agreed = chain.agreed.bind(chain);
    chain.agreed = async () => ({
      ...(await agreed()),
      receipt: async (hash) => chain.receipts().find((receipt) => receipt.hash === hash),
    });
    const isCounted = () => rows().some((row) => (row as { state: string }).state === "confirmed");
    expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: isCounted })).toBe(true);
    expect(rows()).toMatchObject([{ state: "confirmed", sold: HUNDRED_USDC.toString() }]);
    await turn(outside, life, 10);
    expect(outside.reported.map(({ code }) => code)).not.toContain("FILL_UNMEASURED");
    expect(await end()).toEqual(ONCE);
  },
);
