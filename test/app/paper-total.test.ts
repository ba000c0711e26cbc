import { expect, test } from "vitest";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { describeTotal, totalOnPaper } from "../../src/app/paper-total.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { makeExampleHome } from "../support/example-file.ts";

const GONE = toAddress(`0x${"9e".repeat(20)}`);
const ACCOUNT = toAddress(`0x${"a1".repeat(20)}`);

test("what is held on paper and stands in the configuration no more is named as left out of the total", async () => {
  const { file, write } = makeExampleHome();
  write("paper");
  const loaded = loadConfiguration(file, process.env);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const holding = { account: ACCOUNT, token: GONE, began: 0n, now: 41_200_000n };
  const total = await totalOnPaper(loaded.configuration, process.env, [holding]);
  expect(total.holdings).toEqual([{ wallet: ACCOUNT, token: GONE, began: "0", now: "41200000" }]);
  expect(describeTotal(total).join("\n")).toContain(
    `left out of it, without a price now: ${GONE}: no token of the configuration`,
  );
  const untouched = await totalOnPaper(loaded.configuration, process.env, [{ ...holding, now: 0n }]);
  expect(untouched.unpriced).toEqual([]);
});

test("what is held is told in its own units where this shell lacks the node's variable", async () => {
  const { file, write } = makeExampleHome();
  write("paper");
  const loaded = loadConfiguration(file, process.env);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const usdc = loaded.configuration.tokens.get("USDC")?.token.address ?? GONE;
  const holding = { account: ACCOUNT, token: usdc, began: 0n, now: 41_200_000n };
  const total = await totalOnPaper(loaded.configuration, {}, [holding]);
  expect(total.holdings).toEqual([{ wallet: ACCOUNT, token: "USDC", began: "0", now: "41.2" }]);
  expect(total).toMatchObject({ value: undefined, unpriced: [expect.stringContaining("is not set")] });
});
