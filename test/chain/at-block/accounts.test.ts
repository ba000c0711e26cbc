import { expect, test } from "vitest";
import { createAccounts } from "../../../src/chain/at-block/accounts.ts";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { STRANGER } from "../../domain/guard/swap-samples.ts";

test.each([
  ["native token", ["0x1", "0x0", "0x"], true],
  ["a transaction of its own", ["0x0", "0xa", "0x"], true],
  ["code", ["0x0", "0x0", "0x60"], true],
  ["nothing", ["0x0", "0x0", "0x"], false],
  ["answers of which JavaScript makes no text", [{ toString: 1 }, null, [{ toString: 1 }]], false],
])("an account of %s exists where it should", async (_, answers, exists) => {
  const accounts = createAccounts({ batch: async () => answers } as unknown as JsonRpc);
  expect(await accounts.exists(STRANGER)).toBe(exists);
});
