import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeJson,
  decodeSwap,
  encodeJson,
  encodeSwap,
  type SwapColumns,
} from "../../../../src/adapters/sqlite/daemon/codec.ts";
import { swapSample } from "../../../support/builders.ts";

/** JSON with bigint and maps, in which names look as much like our own marks as they can. */
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.integer(), fc.bigInt()),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(fc.string(), tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom("$bigint", "$$bigint", "$map", "$$map", "$", "bigint", "__proto__", "constructor", "0"),
        fc.string(),
      ),
      tie("value"),
      { maxKeys: 4 },
    ),
  ),
})).value;

test("whatever is stored is read back the same, every digit of it", () => {
  fc.assert(
    fc.property(anything, (value) => {
      expect(decodeJson(encodeJson(value))).toEqual(value);
    }),
    { numRuns: 1_000 },
  );
});

test("an amount beyond every number type keeps all its digits", () => {
  const amount = 2n ** 256n - 1n;
  expect(decodeJson(encodeJson({ amount, negative: -amount }))).toEqual({ amount, negative: -amount });
  expect(encodeJson({ amount: 5n })).toBe('{"amount":{"$bigint":"5"}}');
});

describe("typed data of a hostile service", () => {
  test.each([
    { $bigint: "not a number" },
    { $bigint: { $bigint: "1" } },
    { $bigint: "1", more: true },
    { $$bigint: "1" },
    { $map: "no list" },
    { $map: [["name", "value"]] },
  ])("cannot pass for a number of ours and make the row unreadable: %j", (message) => {
    const stored = { domain: {}, types: {}, primaryType: "Swap", message };
    expect(decodeJson(encodeJson(stored))).toEqual(stored);
  });
});

test("a body of a later version is refused instead of half understood", () => {
  const columns = encodeSwap(swapSample()) as unknown as SwapColumns;
  const later = { ...columns, body: columns.body.replace('"version":1', '"version":2') };
  expect(() => decodeSwap(later)).toThrow("swap run_1.0.1 has a body of version 2; this program knows 1");
});
