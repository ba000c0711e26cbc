import { expect, it } from "vitest";
import { createSecondService } from "../../../src/adapters/prices/second-service.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Quote, QuoteRequest, ServiceRefusal } from "../../../src/ports/swap-service.ts";
import { refusal } from "../../support/fake-service.ts";
import { USDC, WETH } from "./fixtures.ts";

const OWNER = WETH.address;
const REQUEST = { sell: USDC, buy: WETH, amount: 100n, slippage: toPpm(5_000), owner: OWNER, recipient: OWNER };

async function asked(answer: Quote | ServiceRefusal) {
  const requests: QuoteRequest[] = [];
  const quote = async (request: QuoteRequest) => {
    requests.push(request);
    return answer;
  };
  return { output: await createSecondService({ quote }, "second.example").output(REQUEST), requests };
}

it("a second service is asked for the very swap, without a relayer's fee, and only its output is taken", async () => {
  const { output, requests } = await asked({ id: "q", amountOut: 5n } as Quote);
  expect(output).toEqual({ amountOut: 5n, source: "second.example" });
  expect(requests).toEqual([{ ...REQUEST, gasless: false, enableRfq: false, affiliate: undefined }]);
});

it("a second service that refuses, or quotes nothing, says so with its reason", async () => {
  expect((await asked(refusal("NO_ROUTE", false))).output).toEqual({
    ...{ missing: "unreachable", detail: "second.example gives no quote: NO_ROUTE: the service says NO_ROUTE" },
  });
  expect((await asked({ id: "q", amountOut: 0n } as Quote)).output).toMatchObject({ missing: "invalid" });
});
