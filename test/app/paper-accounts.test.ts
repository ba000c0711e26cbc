import { expect, test } from "vitest";
import { engineSettings } from "../../src/app/engine-settings.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { loaded, MAIN } from "../config/project.ts";

const CONTRACTS = oneContract(toAddress("0x1111111111111111111111111111111111111111"));
const KEY = "{ keystore: { file: wallet.json }, password: { file: wallet.pass } }";

test.each([
  ["on paper without the native coin", "paper", "{ paper: { USDC: 5000 } }", 1],
  ["on paper with some of it", "paper", '{ paper: { USDC: 5000, ETH: "0.5" } }', 0],
  ["on paper with what it holds on the chain", "paper", KEY, 0],
  ["in a dry run without the native coin", "dry-run", "{ paper: { USDC: 5000 } }", 1],
  ["live", "live", KEY, 0],
])("a wallet %s: the engine counts what it is lent for gas, and nothing else, as lent", (_, mode, wallet, lent) => {
  const main = MAIN.replace(KEY, wallet).replace("mode: live", `mode: ${mode}`);
  const { lentGas } = engineSettings(loaded({ "main.yaml": main }), CONTRACTS);
  expect([...(lentGas?.values() ?? [])]).toEqual(Array.from({ length: lent }, () => 1_000n * 10n ** 18n));
});
