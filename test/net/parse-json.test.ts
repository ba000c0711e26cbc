import fc from "fast-check";
import { expect, test } from "vitest";
import { numberText, parseJsonLossless } from "../../src/net/parse-json.ts";

function refusal(text: string): string {
  const result = parseJsonLossless(text);
  return "refused" in result ? result.refused : "accepted";
}

test("numbers keep every digit", () => {
  const result = parseJsonLossless(
    '{"a": 115792089237316195423570985008687907853269984665640564039457584007913129639935}',
  );
  if ("refused" in result) throw new Error(result.refused);
  expect(numberText((result.value as { a: unknown }).a)).toBe(String(2n ** 256n - 1n));
  expect(numberText("5")).toBeUndefined();
});

test("duplicate keys are refused, also equal ones and ones written with escapes", () => {
  expect(refusal('{"to":"a","to":"b"}')).toMatch(/occurs twice/);
  expect(refusal('{"to":"a","to":"a"}')).toMatch(/occurs twice/);
  expect(refusal('{"to":"a","t\\u006f":"b"}')).toMatch(/occurs twice/);
  expect(refusal('[{"to":1},{"to":1}]')).toBe("accepted");
  expect(refusal('{"to":{"to":["to","to"]}}')).toBe("accepted");
});

test("keys that reach into JavaScript objects are refused at every depth", () => {
  expect(refusal('{"__proto__":{"x":1}}')).toMatch(/not allowed/);
  expect(refusal('[[{"a":{"constructor":1}}]]')).toMatch(/not allowed/);
  expect(refusal('{"\\u005f_proto__":1}')).toMatch(/not allowed/);
});

test("deep nesting is refused before it can exhaust the stack", () => {
  expect(refusal("[".repeat(1_000_000))).toMatch(/nested deeper/);
  expect(refusal(`${"[".repeat(64)}1${"]".repeat(64)}`)).toBe("accepted");
});

test("what is not JSON is refused", () => {
  for (const text of [
    "",
    "<html>",
    "{",
    '{"a":1',
    "{'a':1}",
    "01",
    "NaN",
    '"\u0001"',
    "\ufeff{}",
    '{"a":1}x',
    '"abc',
  ]) {
    expect(refusal(text)).not.toBe("accepted");
  }
});

test("every JSON value that JavaScript writes is accepted", () => {
  const safeKey = fc.string().filter((key) => !["__proto__", "constructor", "prototype"].includes(key));
  const value = fc
    .jsonValue({ maxDepth: 5 })
    .filter((v) => !/"(__proto__|constructor|prototype)":/.test(JSON.stringify(v)));
  fc.assert(
    fc.property(fc.dictionary(safeKey, value), (object) => {
      expect(refusal(JSON.stringify(object))).toBe("accepted");
    }),
  );
});
