import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { DataFee } from "../../src/ports/chain.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turnUntil } from "../support/engine-life.ts";

/** Of a coin: above three per cent of what is traded. */
const FEE = 10n ** 15n * 3n;

async function play(gasless: "never" | "only", fee: bigint | Error) {
  const outside = createOutside(SLOT_MS - 1_500, { gasless, retryForSeconds: 5 });
  const asked: Parameters<DataFee>[0][] = [];
  const dataFee: DataFee = async (transaction) => {
    asked.push(transaction);
    if (fee instanceof Error) throw fee;
    return fee;
  };
  const life = openLife(outside, { dataFee });
  await life.engine.start();
  const end = () => life.db.prepare("SELECT state, reason FROM runs ORDER BY slot_ms").get();
  const isDone = () => /"(filled|skipped|failed)"/.test(JSON.stringify(end() ?? {}));
  await turnUntil(outside, life, { maxSeconds: 60, isDone });
  expect(life.errors).toEqual([]);
  return { outside, asked, end: end() };
}

test("a swap whose data costs more than its share is denied before anything is signed, and says so", async () => {
  const { outside, end } = await play("never", FEE);
  expect(end).toMatchObject({ state: "skipped", reason: "FEE_CAP_EXCEEDED" });
  expect(outside.signed).toEqual([]);
});

test("a swap of which the nodes do not say what its data costs is not signed, and asked about again", async () => {
  const { outside, asked, end } = await play("never", new ChainReadError("unreachable", "no node answered eth_call"));
  expect(end).toMatchObject({ state: "skipped" });
  expect(outside.signed).toEqual([]);
  expect(asked.length).toBeGreaterThan(1);
});

test("the bytes that are asked about are those of the swap, with numbers no shorter than its own", async () => {
  const { asked, end } = await play("never", 1n);
  expect(end).toMatchObject({ state: "filled" });
  const [first] = asked;
  expect(first?.data.length).toBeGreaterThan(10);
  expect(first?.nonce).toBeGreaterThan(2 ** 24);
  expect(first?.gasLimit).toBeGreaterThan(21_000n);
});

test("what others send costs the wallet nothing for data, and nobody is asked", async () => {
  const { asked, end } = await play("only", FEE);
  expect(end).toMatchObject({ state: "filled" });
  expect(asked).toEqual([]);
});

test("the data of an approval before the swap counts too, until it is there", async () => {
  const { asked, end } = await play("never", 1n);
  expect(end).toMatchObject({ state: "filled" });
  const isApproval = asked.map(({ data }) => data.startsWith("0x095ea7b3"));
  expect(isApproval.slice(0, 2)).toEqual([true, false]);
  expect(isApproval.at(-1)).toBe(false);
  expect(isApproval.filter(Boolean)).toHaveLength(1);
});
