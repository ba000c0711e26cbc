import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { utcDay } from "../../../src/app/books/amounts.ts";
import type { Book } from "../../../src/app/books/book.ts";
import type { FormatName } from "../../../src/app/books/formats.ts";
import { type Entry, inOrder } from "../../../src/domain/books/entry.ts";
import { keepLots, type LotBook } from "../../../src/domain/books/lots.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import type { UsdPrice } from "../../../src/domain/money/price.ts";
import {
  addressOf,
  bookOf,
  DAY_MS,
  MAIN,
  OTHER,
  opening,
  START_MS,
  STRANGER,
  spentGas,
  swapped,
  USDC,
  WETH,
  written,
} from "../../support/book-samples.ts";
import { HOSTILE_NAMES } from "../../support/hostile-names.ts";
import { histories } from "../../support/random-books.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Programs of others, from Debian's packages, read what we write: what they add up has to be what we do. */
const HISTORIES = 1_000;
const SEED = 20_261_126;
const FIFO = { method: "fifo", orders: [] } as const;

/** Every history with wallets of its own, all of them in one book. */
const ENTRIES = inOrder(
  fc
    .sample(histories(), { numRuns: HISTORIES, seed: SEED })
    .flatMap((entries, index) => entries.map((entry) => moved(entry, index))),
);

function moved(entry: Entry, index: number): Entry {
  const walletOf = (wallet: Address): Address =>
    wallet === STRANGER
      ? wallet
      : toAddress(`0x${(wallet === MAIN ? 1 : 2).toString()}${index.toString(16).padStart(39, "0")}`);
  const own = { id: `${index}.${entry.id}`, wallet: walletOf(entry.wallet) };
  if (entry.kind === "swap") return { ...entry, ...own, recipient: walletOf(entry.recipient) };
  if (entry.kind === "transfer")
    return { ...entry, ...own, recipient: walletOf(entry.recipient), swapId: `${index}.${entry.swapId}` };
  return { ...entry, ...own };
}

/** @throws what the program is called that is missing, or what it says */
function ask(program: string, args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 30 });
  if (error !== undefined)
    throw new Error(`${program} is missing (apt-get install hledger ledger beancount): ${error.message}`);
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${`${stdout}${stderr}`.slice(0, 2_000)}`);
  return stdout;
}

function fileOf(format: FormatName, book: Book): string {
  const file = join(temporaryDirectory(), `books.${format}`);
  writeFileSync(file, `${written(format, book)}\n`);
  return file;
}

/** Digits behind the point that all numbers are brought to. */
const PLACES = 60;

function scaled(decimal: string): bigint {
  const [, sign, whole = "0", fraction = "", exponent = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]*))?(?:E([+-][0-9]+))?$/.exec(decimal) ?? [];
  if (sign === undefined) throw new Error(`no decimal: ${decimal}`);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return digits * 10n ** BigInt(PLACES - fraction.length + Number(exponent));
}

const raised = (raw: bigint, decimals: number): bigint => raw * 10n ** BigInt(PLACES - decimals);

/** A posting as beancount booked it. */
interface Booked {
  readonly entry: string | null;
  readonly account: string;
  readonly number: string;
  readonly currency: string;
  readonly cost: { readonly number: string; readonly currency: string; readonly date: string } | null;
}

/** By the interpreter of Debian's package. All postings behind beancount's own booking, by its own loader: its query tool rounds for display. */
const DUMP = `
import json, sys
from beancount import loader
entries, errors, options = loader.load_file(sys.argv[1])
assert not errors, errors[:5]
for entry in entries:
    for posting in getattr(entry, "postings", []):
        cost = posting.cost
        print(json.dumps({"entry": entry.meta.get("entry"), "account": posting.account, "number": str(posting.units.number),
            "currency": posting.units.currency,
            "cost": cost and {"number": str(cost.number), "currency": cost.currency, "date": str(cost.date)}}))
`;

function bookedOf(book: Book): readonly Booked[] {
  const file = fileOf("beancount", book);
  ask("bean-check", [file]);
  const lines = ask("/usr/bin/python3", ["-c", DUMP, file]).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Booked);
}

/** Units and cost of what is held, by account, asset, kind of cost and day of the lot. */
type Held = ReadonlyMap<string, { readonly units: bigint; readonly cost: bigint }>;

function adding(): { add(key: string, units: bigint, cost: bigint): void; held(): Held } {
  const sums = new Map<string, { units: bigint; cost: bigint }>();
  return {
    add: (key, units, cost) => {
      const sum = sums.get(key) ?? { units: 0n, cost: 0n };
      sums.set(key, { units: sum.units + units, cost: sum.cost + cost });
    },
    held: () =>
      new Map([...sums].filter(([, { units }]) => units !== 0n).sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

function heldByBeancount(postings: readonly Booked[]): Held {
  const sums = adding();
  for (const { account, currency, number, cost } of postings) {
    if (!account.startsWith("Assets:")) continue;
    if (cost === null) throw new Error(`a holding without a cost in ${account}`);
    const units = scaled(number);
    const key = `${account} ${currency} ${cost.currency} ${cost.date}`;
    sums.add(key, units, (units * scaled(cost.number)) / 10n ** BigInt(PLACES));
  }
  return sums.held();
}

function heldByUs(book: Book, { lots }: LotBook): Held {
  const sums = adding();
  for (const { wallet, asset, raw, basis, acquiredMs } of lots) {
    if (wallet === undefined || !book.isWritten(wallet)) continue;
    const day = acquiredMs === undefined ? "1970-01-01" : utcDay(acquiredMs);
    const kind = `${basis === undefined ? "UNKNOWN" : "USD"} ${day}`;
    const cost = basis === undefined ? raised(raw, asset.decimals) : raised(basis, 18);
    sums.add(`Assets:Swapd:${wallet} ${book.assetName(asset)} ${kind}`, raised(raw, asset.decimals), cost);
  }
  return sums.held();
}

/** Beancount divides a cost by its units with 28 digits, and we never: a part of 1e-9 dollars is what that comes to. */
const NEAR = 10n ** BigInt(PLACES - 9);

function expectSame(theirs: Held, ours: Held): void {
  expect([...theirs.keys()]).toEqual([...ours.keys()]);
  for (const [key, { units, cost }] of ours) {
    const other = theirs.get(key);
    expect(other?.units, key).toBe(units);
    const apart = (other?.cost ?? 0n) - cost;
    expect(apart < NEAR && apart > -NEAR, `${key}: ${other?.cost} and ${cost}`).toBe(true);
  }
}

function expectNear(theirs: ReadonlyMap<string, bigint>, ours: ReadonlyMap<string, bigint>): void {
  for (const entry of new Set([...theirs.keys(), ...ours.keys()])) {
    const apart = (theirs.get(entry) ?? 0n) - (ours.get(entry) ?? 0n);
    expect(apart < NEAR && apart > -NEAR, `${entry}: ${theirs.get(entry)} and ${ours.get(entry)}`).toBe(true);
  }
}

const WHOLE = keepLots(ENTRIES, FIFO);
const BOOK = bookOf("beancount", ENTRIES, { walletName: (wallet) => wallet, whole: WHOLE });

describe(`beancount, over ${HISTORIES} random histories,`, () => {
  const postings = bookedOf.bind(undefined, BOOK);

  it("balances, holds the lots that we hold by FIFO, and works out the results that we do", {
    timeout: 600_000,
  }, () => {
    const booked = postings();
    expect(ENTRIES.length).toBeGreaterThan(HISTORIES * 5);
    expectSame(heldByBeancount(booked), heldByUs(BOOK, WHOLE));
    const sumOf = (account: string): Map<string, bigint> => {
      const sums = new Map<string, bigint>();
      for (const one of booked) {
        if (one.account !== account || one.currency !== "USD") continue;
        const entry = one.entry ?? "";
        sums.set(entry, (sums.get(entry) ?? 0n) - scaled(one.number));
      }
      return sums;
    };
    const results = new Map<string, bigint>();
    const proceedsOfUnknown = new Map<string, bigint>();
    for (const { entry, basis, proceeds, why } of WHOLE.disposals) {
      if (proceeds === undefined || why === "sent") continue;
      const sums = basis === undefined ? proceedsOfUnknown : results;
      sums.set(entry, (sums.get(entry) ?? 0n) + raised(proceeds - (basis ?? 0n), 18));
    }
    expect(results.size).toBeGreaterThan(HISTORIES);
    expect(proceedsOfUnknown.size).toBeGreaterThan(HISTORIES);
    expectNear(sumOf("Income:Swapd:Result"), results);
    expectNear(sumOf("Income:Swapd:Unknown-Basis"), proceedsOfUnknown);
  });

  it("sells lots of one day in their order, also where two of them cost the same", () => {
    const price = (ticks: bigint) => ({ usd: (ticks * 10n ** 10n) as UsdPrice, source: "feed", atSeconds: 0 });
    const at = (hour: number) => ({
      id: `run_${hour}.0.1`,
      atMs: START_MS + DAY_MS + hour * 3_600_000,
      blockNumber: hour,
    });
    const sale = (hour: number, ticks: bigint): Entry =>
      swapped(1, {
        ...at(hour),
        ...{ sold: { asset: WETH, raw: 10n ** 17n }, bought: { asset: USDC, raw: 1_000_000_000n }, gas: undefined },
        prices: { sold: undefined, bought: price(ticks), native: undefined },
      });
    const sales = [sale(1, 99_000_000n), sale(2, 101_000_000n), sale(3, 99_000_000n)];
    const entries = [...sales, swapped(1, { ...at(4), sold: { asset: USDC, raw: 2_000_000_000n }, gas: undefined })];
    const book = bookOf("beancount", entries, { walletName: (wallet) => wallet });
    expectSame(heldByBeancount(bookedOf(book)), heldByUs(book, keepLots(entries, FIFO)));
  });

  it("begins in the middle with the lots that were there, and ends with the same", { timeout: 600_000 }, () => {
    const sinceMs = START_MS + 8 * DAY_MS;
    const before = keepLots(
      ENTRIES.filter(({ atMs }) => atMs < sinceMs),
      FIFO,
    );
    const book = { ...BOOK, entries: ENTRIES.filter(({ atMs }) => atMs >= sinceMs), before, sinceMs };
    expect(before.lots.length).toBeGreaterThan(HISTORIES);
    expectSame(heldByBeancount(bookedOf(book)), heldByUs(book, WHOLE));
  });

  it("holds of one wallet what it holds among all", { timeout: 600_000 }, () => {
    const book = { ...BOOK, isWritten: (wallet: Address) => wallet.startsWith("0x2") };
    const booked = bookedOf(book).filter(({ account }) => account.startsWith("Assets:Swapd:0x2"));
    expectSame(heldByBeancount(booked), heldByUs(book, WHOLE));
  });
});

/** What hledger says each account has, to the last unit. */
function heldByHledger(file: string): ReadonlyMap<string, bigint> {
  const lines = ask("hledger", [
    "-f",
    file,
    "bal",
    "assets",
    "--flat",
    "-O",
    "csv",
    "--layout",
    "bare",
    "--no-total",
    "-E",
  ])
    .trim()
    .split("\n")
    .slice(1);
  return new Map(
    lines.flatMap((line) => {
      const [account = "", currency = "", number = ""] = line.split(",").map((cell) => cell.replaceAll('"', ""));
      return scaled(number) === 0n ? [] : [[`${account} ${currency}`, scaled(number)] as const];
    }),
  );
}

describe(`hledger, over ${HISTORIES} random histories,`, () => {
  it.each([
    ["all of them", 0, "0x"],
    ["their ends", 8, "0x"],
    ["one wallet of each", 0, "0x1"],
  ])("checks %s strictly, and holds to the last unit what we hold", { timeout: 600_000 }, (_what, days, prefix) => {
    const sinceMs = START_MS + days * DAY_MS;
    const isBefore = ({ atMs }: Entry): boolean => days > 0 && atMs < sinceMs;
    const book = bookOf(
      "hledger",
      ENTRIES.filter((entry) => !isBefore(entry)),
      {
        ...{ walletName: (wallet: Address) => wallet, whole: WHOLE, sinceMs },
        before: keepLots(ENTRIES.filter(isBefore), FIFO),
        isWritten: (wallet) => wallet.startsWith(prefix),
      },
    );
    const file = fileOf("hledger", book);
    ask("hledger", ["-f", file, "check", "--strict"]);
    const sums = new Map<string, bigint>();
    for (const { wallet = MAIN, asset, raw } of WHOLE.lots) {
      if (!book.isWritten(wallet)) continue;
      const key = `assets:swapd:${wallet} ${book.assetName(asset)}`;
      sums.set(key, (sums.get(key) ?? 0n) + raised(raw, asset.decimals));
    }
    const theirs = [...heldByHledger(file)].filter(([key]) => key.startsWith(`assets:swapd:${prefix}`));
    expect(new Map(theirs)).toEqual(sums);
    ask("ledger", ["-f", file, "balance", "assets"]);
  });
});

describe("hostile names", () => {
  const entries = [
    opening(0),
    ...HOSTILE_NAMES.flatMap((symbol, index) => {
      const asset = { address: addressOf(`bad${index.toString(16)}`), symbol, decimals: 18 };
      const strategy = symbol;
      return [
        swapped(index + 1, { bought: { asset, raw: 10n ** 18n }, strategy }),
        spentGas(index + 1, { id: `gas.${index}`, strategy, wallet: OTHER }),
      ];
    }),
  ];

  it.each(HOSTILE_NAMES)("are harmless to hledger, ledger and beancount as a wallet's: %j", (name) => {
    const walletName = (wallet: Address): string => (wallet === MAIN ? name : wallet);
    const journal = fileOf("hledger", bookOf("hledger", entries, { walletName }));
    ask("hledger", ["-f", journal, "check", "--strict"]);
    ask("ledger", ["-f", journal, "balance"]);
    ask("bean-check", [fileOf("beancount", bookOf("beancount", entries, { walletName }))]);
  });
});
