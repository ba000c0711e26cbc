import { expect, test } from "vitest";
import type { JsonRpc } from "../../../src/chain/json-rpc.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import type { SettledNetwork } from "../../../src/service/options.ts";
import type { Quote } from "../../../src/service/quotes/quote.ts";
import type { Tokens } from "../../../src/service/quotes/tokens.ts";
import { checkPermit } from "../../../src/service/relayer/signatures.ts";

const ACCOUNT = toAddress(`0x${"11".repeat(20)}`);
const DEADLINE = 1_900_000_600n;

test("a permit has to hold as long as its order: it passes the simulation in this block, and fails in the next one", async () => {
  const order = { fromAsset: ACCOUNT, swapFee: 1n, amountIn: 1n, affiliateFee: 0n, deadline: DEADLINE };
  const quote = { owner: ACCOUNT, order } as unknown as Quote & { owner: typeof ACCOUNT };
  const context = {
    rpc: { host: "node", batch: async () => [`0x${"0".repeat(64)}`] } as unknown as JsonRpc,
    tokens: { permitSupport: async () => ({ kind: "none" }) } as unknown as Tokens,
    network: { settlement: ACCOUNT } as SettledNetwork,
  };
  const errorOf = async (deadline: bigint) => {
    const check = await checkPermit(quote, { signature: "0x", deadline }, context);
    return check.kind === "refused" ? check.error : undefined;
  };
  expect(await errorOf(DEADLINE - 1n)).toBe("PERMIT_EXPIRED");
  expect(await errorOf(DEADLINE)).toBe("PERMIT_SIGNATURE_INVALID");
});
