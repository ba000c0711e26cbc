import { expect, it } from "vitest";
import { ERRORS } from "../../src/service/errors/errors.ts";

/** The live interface has one code for several of these; clients compare them. */
const SHARED_BY_THE_INTERFACE = [
  ["FROM_TOKEN_UNKNOWN", "TO_TOKEN_UNKNOWN"],
  ["AMOUNT_ZERO", "NO_ROUTE"],
];

it("has a code of its own for each error but those that the interface itself does not distinguishes", () => {
  const byCode = Map.groupBy(Object.entries(ERRORS), ([, { code }]) => code);
  const shared = [...byCode.values()].filter(({ length }) => length > 1);
  expect(shared.map((errors) => errors.map(([name]) => name))).toEqual(SHARED_BY_THE_INTERFACE);
});
