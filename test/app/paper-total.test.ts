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
