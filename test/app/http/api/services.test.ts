import { expect, it } from "vitest";
import { describeServices, type OutsideParts } from "../../../../src/app/http/api/describe-outside.ts";
import { oneContract } from "../../../../src/domain/guard/swap-contracts.ts";
import { POOL, RELAYER, ROUTER } from "../../../support/builders.ts";

it("names every router that a quote may name, and not the first one alone", () => {
  const service = {
    ...{ profile: "public-routers", url: "embedded", contracts: oneContract(ROUTER) },
    furtherContracts: [oneContract(POOL), oneContract(RELAYER)],
  };
  const parts = { configuration: { service }, endpoints: [], absence: undefined, fills: [], submit: [] };
  expect(describeServices(parts as unknown as OutsideParts).service).toMatchObject({
    ...{ spender: ROUTER, target: ROUTER },
    further: [
      { spender: POOL, target: POOL },
      { spender: RELAYER, target: RELAYER },
    ],
  });
});
