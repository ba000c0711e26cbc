import { readdirSync } from "node:fs";
import fc from "fast-check";
import ts from "typescript";
import { expect, test } from "vitest";
import { hidden } from "../../src/app/hide.ts";
import { formatAmount, formatUnits } from "../../src/domain/money/amount.ts";
import { formatDollars } from "../../src/domain/money/price.ts";
import { nodesOf, parseFile } from "../style/support/syntax.ts";
import { USDC, WETH } from "../support/builders.ts";

const FILL =
  "weekly-2 sold 1,250.5 USDC, bought 0.100495 WETH on base, 995.074 USDC for 1 WETH, self-executed, gas 0.0001 ETH (0.10 USD), transaction 0x290a00112233445566778899aabbccddeeff00112233445566778899aabbccdd, run run_01K7";
const ACCOUNT = "account 0x00112233445566778899AABBCCDDEEFF00112233";

const SAID = { id: "alert_1", text: FILL, subject: ACCOUNT };

const withoutAmounts = (text: string): string => hidden({ ...SAID, text, subject: "" }, ["amounts"], 7).text;

test("the id of a fill says nothing of how much, and stays its own", () => {
  const fill = { ...SAID, id: "fill_run_01K7.0.1_1250500000_100495000000000000" };
  expect(hidden(fill, ["amounts"], 7).id).toBe("fill_run_01K7.0.1_7");
  expect(hidden(fill, ["addresses"], 7).id).toBe(fill.id);
  expect(hidden(SAID, ["amounts"], 7).id).toBe("alert_1");
});

test("amounts are hidden, and names, ids, times and shares stay", () => {
  expect(withoutAmounts(FILL)).toBe(
    "weekly-2 sold *** USDC, bought *** WETH on base, *** USDC for *** WETH, self-executed, gas *** ETH (*** USD), transaction 0x290a00112233445566778899aabbccddeeff00112233445566778899aabbccdd, run run_01K7",
  );
  const other = "at 2026-11-22T01:12:09.000Z, 7h before, 50bps below 1.5%, until 2026-11-23: needs 12";
  expect(withoutAmounts(other)).toBe(other.replace("needs 12", "needs ***"));
});

test("addresses and hashes are hidden, in the subject too", () => {
  expect(hidden(SAID, ["addresses"], 7)).toEqual({
    id: "alert_1",
    text: FILL.replace(/0x[0-9a-f]{64}/, "***"),
    subject: "account ***",
  });
});

test.each([
  ["5 USDC", "*** USDC"],
  ["5USDC", "***USDC"],
  ["$5.00", "$***"],
  ["\u20ac-5", "\u20ac***"],
  ["lost -5 USDC", "lost *** USDC"],
  ["+5 USDC", "*** USDC"],
  ["5.", "***."],
  ["(5)", "(***)"],
  ["1'000.5 CHF", "*** CHF"],
  ["1.234.567,5 EUR", "*** EUR"],
  ["1\u00a0250,5 EUR", "*** EUR"],
  ["less than 0.01", "less than ***"],
  ["5, 6 and 7", "***, *** and ***"],
  ["1e18 wei, 1.5E-7 ETH", "*** wei, *** ETH"],
  ["needs=5 of:6", "needs=*** of:***"],
  ["2/5 of it", "***/*** of it"],
  ["30gwei", "***gwei"],
  ["2 1INCH", "*** ***INCH"],
  ["\u0665 USDC", "*** USDC"],
])("of %s is told %s", (text, expected) => {
  expect(withoutAmounts(text)).toBe(expected);
});

test.each([
  ...["1.5%", "5 %", "50bps", "50 bps", "5pp", "Mon 09:00", "09:00:30", "2026-11-22", "1h30m", "7h", "250ms"],
  ...["run_1.0.1", "weekly-2", "127.0.0.1:8545", "node1.example:8545", "localhost:9464", "0xab12", "WETH2"],
])("%s says nothing of how much, and stays", (text) => {
  expect(withoutAmounts(`of ${text} it`)).toBe(`of ${text} it`);
});

test("a channel that is told everything is told everything", () => {
  expect(hidden(SAID, [], 7)).toEqual(SAID);
});

/** An amount in every form that our texts have. */
const amounts = fc
  .record({ raw: fc.bigInt(1_000_000n, 10n ** 30n), decimals: fc.integer({ min: 0, max: 24 }) })
  .chain(({ raw, decimals }) => {
    const usdc = { raw, token: { ...USDC, decimals } };
    const written = [
      ...[formatAmount(usdc), formatUnits(raw, decimals), formatDollars(raw), `${formatUnits(raw, decimals)}WETH`],
      ...[`-${formatAmount(usdc)}`, `$${formatUnits(raw, decimals)}`, `${raw} wei`, `${raw}`, `${Number(raw)} ETH`],
    ];
    return fc.constantFrom(...written);
  });

/** Whatever stood in front of it in a text of ours, but what makes it a part of a name. */
const BEFORE = [
  "",
  " ",
  "(",
  "[",
  ", ",
  ": ",
  "=",
  "<",
  ">",
  "/",
  "; ",
  "\n",
  '"',
  "x ",
  "of ",
  "\u2248",
  "~",
  "+",
  "*",
];
const AFTER = ["", " ", ")", "]", ",", ".", ":", ";", "/", "\n", '"', " of it", "!", "?", "+", "*"];

test("no figure of an amount is told, in whatever form and between whatever it stands", () => {
  const places = fc.tuple(fc.constantFrom(...BEFORE), amounts, fc.constantFrom(...AFTER));
  fc.assert(
    fc.property(fc.array(places, { minLength: 1, maxLength: 4 }), (parts) => {
      const text = parts.map(([before, amount, after]) => `${before}${amount}${after}`).join("and ");
      expect(withoutAmounts(text)).not.toMatch(/\p{Nd}/u);
    }),
    { numRuns: 2_000 },
  );
});

/** Every text with something put in, of all that the daemon may raise or send. */
function templates(): readonly { readonly file: string; readonly parts: readonly string[] }[] {
  const files = ["app", "adapters", "domain", "engine", "lane"].flatMap((room) =>
    readdirSync(new URL(`../../src/${room}`, import.meta.url), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `src/${room}/${name}`),
  );
  return files.flatMap((file) =>
    [...nodesOf(parseFile(file))].flatMap((node) =>
      ts.isTemplateExpression(node)
        ? [{ file, parts: [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)] }]
        : [],
    ),
  );
}

test("in no text of the code an amount is told that is put into it, but where it would be a part of a name", () => {
  const all = templates();
  expect(all.length).toBeGreaterThan(1_000);
  const told = all.flatMap(({ file, parts }) =>
    parts.slice(1).flatMap((_, place) => {
      const [before = "", after = ""] = [parts[place], parts[place + 1]];
      if (/[\p{L}_][-.]?$|0x$/u.test(before) || !/\s/.test(`${before}${after}`)) return [];
      const text = `${before}9876.54321 ${WETH.symbol}${after}`;
      return withoutAmounts(text).includes("9876") ? [`${file}: ${text}`] : [];
    }),
  );
  expect(told).toEqual([]);
});
