import { describe, expect, it } from "vitest";
import { FORMATS, type FormatName } from "../../../src/app/books/formats.ts";
import { worthOfSwap } from "../../../src/domain/books/entry.ts";
import {
  addressOf,
  bookOf,
  handedOn,
  MAIN,
  OTHER,
  opening,
  priced,
  STRANGER,
  spentGas,
  swapped,
  USDC,
  WETH,
  written,
} from "../../support/book-samples.ts";
import { HOSTILE_NAMES } from "../../support/hostile-names.ts";

const NAMES = Object.keys(FORMATS) as FormatName[];
const ENTRIES = [opening(0), spentGas(1), swapped(2), swapped(3), handedOn(3)];
const [SWAP_HASH, GAS_HASH] = [swapped(2).hash, spentGas(1).hash];

/** The lines of an export that mention a transaction. */
const linesOf = (format: FormatName, hash: string | undefined): string[] =>
  written(format, bookOf(format, ENTRIES))
    .split("\n")
    .filter((line) => line.includes(String(hash)));

describe("an export", () => {
  it("has the heading of Koinly's universal file, and a fill in one line with its gas as the fee", () => {
    const [heading] = written("koinly", bookOf("koinly", ENTRIES)).split("\n");
    expect(heading).toBe(
      "Date,Sent Amount,Sent Currency,Received Amount,Received Currency,Fee Amount,Fee Currency,Net Worth Amount,Net Worth Currency,Label,Description,TxHash",
    );
    expect(linesOf("koinly", SWAP_HASH)).toEqual([
      `2026-01-03 00:00:00,100,USDC,0.04,WETH,0.0001,ETH,100,USD,,swap run_2.0.1; USDC is ${USDC.address}; WETH is ${WETH.address}; wallet main; strategy weekly-eth,${SWAP_HASH}`.replace(
        /(swap run_2.*weekly-eth)/,
        '"$1"',
      ),
    ]);
    expect(linesOf("koinly", GAS_HASH)[0]).toContain("2026-01-02 00:00:00,0.00005,ETH,,,,,0.125,USD,cost,");
  });

  it("has the heading of CoinTracking, and gas as lines of its own", () => {
    const [heading] = written("cointracking", bookOf("cointracking", ENTRIES)).split("\n");
    expect(heading).toBe('"Type","Buy","Cur.","Sell","Cur.","Fee","Cur.","Exchange","Group","Comment","Date","Tx-ID"');
    const [trade, fee, ...more] = linesOf("cointracking", SWAP_HASH);
    expect(trade).toMatch(/^"Trade","0.04","WETH","100","USDC","","","main",/);
    expect(fee).toMatch(/^"Other Fee","","","0.0001","ETH","","","main",/);
    expect(more).toEqual([]);
  });

  it("keeps lots of one day and one price apart in beancount, by the swaps that bought them, and calls a swap's gas by its name", () => {
    const later = { ...swapped(3), atMs: swapped(2).atMs + 3_600_000 };
    const text = written("beancount", bookOf("beancount", [opening(0), swapped(2), later]));
    expect(text.match(/0\.04 WETH \{\{100 USD, 2026-01-03, "[^"]*"\}\}/g)).toEqual([
      '0.04 WETH {{100 USD, 2026-01-03, "run_2.0.1"}}',
      '0.04 WETH {{100 USD, 2026-01-03, "run_3.0.1"}}',
    ]);
    expect(text).toContain('"weekly-eth: gas of swap"');
    expect(text).not.toContain("approval");
  });

  it("writes a transfer between wallets of ours for both sides, and one to strangers for one", () => {
    const away = [swapped(3), handedOn(3, { recipient: STRANGER, isOwn: false })];
    const rows = (format: FormatName, entries = ENTRIES): number =>
      written(format, bookOf(format, entries))
        .split("\n")
        .filter((line) => line.includes("bought by run_3")).length;
    expect([rows("koinly"), rows("cointracking")]).toEqual([2, 2]);
    expect([rows("koinly", away), rows("cointracking", away)]).toEqual([1, 1]);
    const only = written("koinly", bookOf("koinly", ENTRIES, { isWritten: (wallet) => wallet === OTHER }));
    expect(only.split("\n").slice(1)).toHaveLength(1);
    expect(only).toContain("2026-01-04 00:00:00,,,0.04,WETH,");
    expect(only).toContain("to our wallet other; ");
    expect(only).toContain("; wallet other; strategy");
  });

  it.each(["koinly", "csv", "jsonl"] as const)("in %s says what was sent away by what it was sold for", (format) => {
    const prices = { sold: priced(1n), bought: undefined, native: undefined };
    const swap = swapped(3, { prices, gas: undefined, recipient: STRANGER });
    const sent = handedOn(3, { recipient: STRANGER, isOwn: false, price: undefined, worth: worthOfSwap(swap) });
    const [line = ""] = written(format, bookOf(format, [swap, sent]))
      .split("\n")
      .slice(-1);
    expect(line).toContain(STRANGER);
    expect(line).toMatch(/,100,USD,|,100,|"value_usd":"100"/);
  });

  it.each([
    ["hledger", MAIN, "equity:swapd:other wallets  0.04"],
    ["hledger", OTHER, "equity:swapd:other wallets  -0.04"],
    ["beancount", MAIN, "Equity:Swapd:Other-Wallets  0.04 WETH"],
    ["beancount", OTHER, "Equity:Swapd:Other-Wallets"],
  ] as const)("of one wallet has no account of another one in %s: the books of each add up", (format, wallet, line) => {
    const entries = [opening(0), swapped(3, { recipient: OTHER }), handedOn(3)];
    const one = written(format, bookOf(format, entries, { isWritten: (other) => other === wallet }));
    const absent = wallet === MAIN ? "other" : "main";
    expect(one).toContain(`  ${line}`);
    expect(one.toLowerCase()).not.toContain(`assets:swapd:${absent}`);
    expect(written(format, bookOf(format, entries))).not.toContain(`  ${line}`);
  });

  it.each(["csv", "jsonl"] as const)(
    "in %s has contracts, hash, wallet and the dated evidence of each price",
    (format) => {
      const [line = ""] = linesOf(format, SWAP_HASH);
      for (const part of [
        USDC.address,
        WETH.address,
        MAIN,
        "weekly-eth",
        "run_2.0.1",
        "2500",
        "feed",
        "2026-01-03T00:00:00Z",
      ])
        expect(line).toContain(part);
      expect(written(format, bookOf(format, ENTRIES))).toContain("what it cost is not known");
    },
  );

  it.each(["csv", "jsonl"] as const)("in %s has no time for a lot whose day nobody knows", (format) => {
    const undated = opening(0, { id: "lot.2", atMs: 0, blockNumber: 0 });
    const text = written(format, bookOf(format, [undated, swapped(2)]));
    expect(text).not.toContain("1970");
    expect(text).toContain("2026-01-03T00:00:00Z");
  });

  it.each(NAMES)("of %s says by name that a book is no real money", (format) => {
    const book = bookOf(format, ENTRIES, { world: "paper" });
    expect(written(format, book).toLowerCase()).toContain("paper");
    expect(written(format, bookOf(format, ENTRIES)).toLowerCase()).not.toContain("paper");
  });
});

const HOSTILE_ENTRIES = HOSTILE_NAMES.flatMap((symbol, index) => {
  const asset = { address: addressOf(`bad${index.toString(16)}`), symbol, decimals: 18 };
  const day = index + 1;
  return [
    swapped(day, { bought: { asset, raw: 10n ** 18n }, strategy: symbol, gas: undefined }),
    spentGas(day, { strategy: symbol }),
  ];
});

describe("hostile names", () => {
  it.each(NAMES)("begin no formula and no line in %s", (format) => {
    const text = written(format, bookOf(format, [opening(0), ...HOSTILE_ENTRIES]));
    const lines = text.split("\n");
    const plain = written(
      format,
      bookOf(format, [opening(0), ...HOSTILE_ENTRIES.map((entry) => ({ ...entry, strategy: "x" }))]),
    );
    expect(lines).toHaveLength(plain.split("\n").length);
    expect(text).not.toMatch(/\r|\u202e/);
    if (format === "hledger" || format === "beancount" || format === "jsonl") return;
    for (const cell of lines.flatMap((line) => line.match(/(?<=^|,)("(?:[^"]|"")*"|[^,]*)/g) ?? []))
      expect(cell.replace(/^"/, "")).not.toMatch(/^[=+\-@\t]/);
  });

  it.each([
    ...["T", "TRUE", "FALSE", "NULL"].map((symbol) => ["beancount", symbol] as const),
    ...["true", "and", "or", "not", "s", "h"].map((symbol) => ["hledger", symbol] as const),
  ])("that are words of %s itself are none of an asset: %s", (format, symbol) => {
    const asset = { address: addressOf("bad"), symbol, decimals: 18 };
    const book = bookOf(format, [swapped(1, { bought: { asset, raw: 1n } })]);
    expect(book.assetName(asset)).toBe(FORMATS[format].names.fromAddress(asset.address));
  });

  it.each(NAMES)("name no other asset, and no money of a state, in %s", (format) => {
    const book = bookOf(format, HOSTILE_ENTRIES);
    const names = HOSTILE_ENTRIES.flatMap((entry) =>
      entry.kind === "swap" ? [book.assetName(entry.bought.asset)] : [],
    );
    expect(new Set([...names, book.assetName(USDC)].map((name) => name.toUpperCase())).size).toBe(
      HOSTILE_NAMES.length + 1,
    );
    for (const name of names)
      expect(name).toMatch(
        FORMATS[format].names.plain.source.startsWith("^[A-Z]") ? /^[A-Z][A-Z0-9'._-]{0,23}$/ : /^[A-Za-z0-9.-]{1,42}$/,
      );
    if (format !== "csv" && format !== "jsonl") expect(names).not.toContain("USD");
  });
});

describe("the owner's names", () => {
  const given = new Map([[WETH.address, "WETH-BASE"]]);

  it("go before symbols", () => {
    for (const format of NAMES) expect(written(format, bookOf(format, ENTRIES, { given }))).toContain("WETH-BASE");
  });

  it("are refused where the format cannot write them, and where two assets would be one", () => {
    expect(() => bookOf("beancount", ENTRIES, { given: new Map([[WETH.address, "weth"]]) })).toThrow(
      /"weth" for 0x.* cannot be a name/,
    );
    const twice = new Map([WETH, USDC].map(({ address }) => [address, "SAME"] as const));
    expect(() => bookOf("koinly", ENTRIES, { given: twice })).toThrow(/"SAME" is given to .* each needs its own/);
  });

  it("send a token's symbol that says the same to its address", () => {
    const imposter = { address: addressOf("bad"), symbol: "USDC", decimals: 6 };
    const entries = [swapped(1), swapped(2, { bought: { asset: imposter, raw: 5n } })];
    const without = bookOf("koinly", entries);
    expect([without.assetName(USDC), without.assetName(imposter)]).toEqual([USDC.address, imposter.address]);
    const named = bookOf("koinly", entries, { given: new Map([[USDC.address, "USDC"]]) });
    expect([named.assetName(USDC), named.assetName(imposter)]).toEqual(["USDC", imposter.address]);
  });
});
