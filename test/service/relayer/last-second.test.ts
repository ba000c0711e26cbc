import { expect, test } from "vitest";
import { lastSecondToSign } from "../../../src/service/relayer/last-second.ts";
import type { SwapOrder } from "../../../src/service/settlement/order.ts";

const CREATED = 1_900_000_000;

test.each([
  [600, 576],
  [60, 54],
  [6, 6],
  [0, 0],
])("a swap that holds %d s is signed for %d s of them: mined after its deadline it reverts", (lifetime, signed) => {
  const order = { deadline: BigInt(CREATED + lifetime) } as SwapOrder;
  expect(lastSecondToSign({ order, createdAtMs: CREATED * 1_000 + 999 })).toBe(CREATED + signed);
});
