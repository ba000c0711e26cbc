import { describe, expect, it } from "vitest";
import { z } from "zod";
import { instant as utcInstant } from "../../src/config/instants.ts";
import { turnover } from "../../src/config/strategy/turnover.ts";
import { dollars, gasPrice, instant, milliseconds, money, multiple, seconds, share } from "../../src/config/units.ts";

const SPACES = [" ", "  ", "\t", "\u00a0", "\u2009", "\u202f", "\u3000", "\u200b", "\ufeff"];

const VALUES: readonly [unit: string, schema: z.ZodType, text: string][] = [
  ["an amount", money("an amount"), "100 USDC"],
  ["dollars", dollars("dollars"), "500 USD"],
  ["a share", share("a share", ["%", "bps"]), "50bps"],
  ["seconds", seconds("seconds"), "10m"],
  ["milliseconds", milliseconds("milliseconds"), "250ms"],
  ["a price of gas", gasPrice("a price of gas"), "5gwei"],
  ["a multiple", multiple("a multiple", { min: 1, max: 3 }), "1.5x"],
  ["a turnover", turnover("a turnover"), "10% per day"],
  ["an instant", instant("an instant"), "2026-11-03T08:00Z"],
  ["an instant in UTC", utcInstant("an instant", "begins"), "2026-11-03T08:00Z"],
];

/** The text with each kind of space at each place, between characters and instead of a space. */
function respaced(text: string): string[] {
  return SPACES.flatMap((space) => [
    ...[...text, ""].map((_, at) => text.slice(0, at) + space + text.slice(at)),
    text.replaceAll(" ", space),
  ]);
}

function patternOf(schema: z.ZodType): RegExp {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
  return new RegExp(JSON.parse(`"${/"pattern":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1]}"`) as string);
}

describe("the loader and the JSON Schemas agree about spaces and hours", () => {
  it.each(VALUES)("in %s", (_unit, schema, text) => {
    const pattern = patternOf(schema);
    expect(schema.safeParse(text).success).toBe(true);
    for (const changed of respaced(text)) {
      expect([changed, schema.safeParse(changed).success]).toEqual([changed, pattern.test(changed)]);
    }
  });

  it.each(VALUES.slice(-2))("the hour 24 is none, in %s", (_unit, schema) => {
    for (const text of ["2027-01-01T24:00Z", "2027-01-01T24:00:00Z"]) {
      expect(schema.safeParse(text).error?.issues[0]).toMatchObject({
        message: expect.stringContaining(`"${text}" is no day and no instant`),
        params: { suggestion: "write 2027-01-02T00:00Z" },
      });
      expect(patternOf(schema).test(text)).toBe(false);
    }
    expect(schema.safeParse("2027-01-01T23:59Z").success).toBe(true);
  });

  it.each([
    ["2027-12-31 24:00", "write 2028-01-01T00:00Z"],
    ["2027-12-31T24:30Z", "write 2027-12-31 or 2026-11-03T08:00Z"],
  ])("what was meant by %j", (text, suggestion) => {
    expect(instant("an instant").safeParse(text).error?.issues[0]).toMatchObject({ params: { suggestion } });
  });

  it("a space around a value is shown, with the value to write", () => {
    expect(money("an amount").safeParse(" 100 USDC ").error?.issues[0]).toMatchObject({
      message: '" 100 USDC " is no amount with its unit',
      params: { suggestion: 'write "100 USDC"' },
    });
  });
});
