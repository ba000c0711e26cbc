import { readFileSync } from "node:fs";
import { type Asset, type Entry, isDated, type OpeningEntry } from "../../domain/books/entry.ts";
import { type Address, NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { parseUsd } from "../../domain/money/price.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { utcDay } from "./amounts.ts";
import { readCsv } from "./csv-text.ts";
import { assetsOf } from "./ledger-parts.ts";
import { sinceMs } from "./time-range.ts";

const COLUMNS = { needed: ["wallet", "asset", "amount"], optional: ["acquired", "cost_usd"] } as const;

/** What a file of lots is read against. */
interface Known {
  readonly wallets: ReadonlyMap<string, Address>;
  readonly entries: readonly Entry[];
  readonly tokens: readonly Asset[];
  readonly nowMs: number;
}

/**
 * Reads lots that were there before swapd, or came in from elsewhere: `wallet,asset,amount,acquired,cost_usd`. An empty
 * cost is one that nobody knows, and an empty day was before all else.
 * @throws CommandFailure with all problems at once
 */
export function readOpeningLots(file: string, known: Known): readonly OpeningEntry[] {
  const { rows, problems } = readCsv(readText(file), COLUMNS);
  const found: string[] = [...problems];
  const lots = rows.flatMap(({ line, cells }) => {
    const lot = readLot(line, cells, known);
    if (typeof lot !== "string") return [lot];
    found.push(`line ${line}: ${lot}`);
    return [];
  });
  if (found.length > 0) throw new CommandFailure(EXIT.usage, found.map((problem) => `${file}: ${problem}`).join("\n"));
  return lots;
}

/** @throws CommandFailure when it cannot be read */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new CommandFailure(EXIT.usage, `${file} cannot be read: ${String(error.code)}`);
  }
}

/** @returns the lot, or what is wrong with its line */
function readLot(line: number, cells: ReadonlyMap<string, string>, known: Known): OpeningEntry | string {
  const cell = (name: string): string => cells.get(name) ?? "";
  const wallet = walletOf(cell("wallet"), known);
  if (wallet === undefined)
    return `there is no wallet ${JSON.stringify(cell("wallet"))}; there are: ${[...known.wallets.keys()].join(", ")}`;
  const asset = assetOf(cell("asset"), known);
  if (typeof asset === "string") return asset;
  const raw = parseUnits(cell("amount"), asset.decimals);
  if (typeof raw === "string" || raw === 0n)
    return `the amount ${JSON.stringify(cell("amount"))} of ${asset.symbol} is ${raw === 0n ? "zero" : raw}`;
  const basis = cell("cost_usd") === "" ? undefined : parseUsd(cell("cost_usd"));
  if (cell("cost_usd") !== "" && basis === undefined)
    return `the cost ${JSON.stringify(cell("cost_usd"))} is no number of dollars; leave it empty where it is not known`;
  const acquiredMs = dayOf(cell("acquired"), known.nowMs);
  if (typeof acquiredMs === "string") return acquiredMs;
  const atMs = acquiredMs ?? 0;
  return {
    ...{ kind: "opening", id: `lot.${line}`, wallet, atMs, blockNumber: blockAt(known.entries, atMs) },
    ...{ hash: undefined, strategy: undefined, held: { asset, raw }, basis, acquiredMs },
  };
}

/** A wallet by its name, or by its address where it is one of ours: what anybody else holds is in no books. */
function walletOf(text: string, { wallets, entries }: Known): Address | undefined {
  const address = parseAddress(text);
  const isOurs = (one: Address): boolean => one === address;
  return wallets.get(text) ?? [...wallets.values()].find(isOurs) ?? entries.map(({ wallet }) => wallet).find(isOurs);
}

function dayOf(text: string, nowMs: number): number | undefined | string {
  if (text === "") return undefined;
  const atMs = instantOf(text);
  if (typeof atMs === "string") return atMs;
  if (atMs > nowMs) return `the day ${JSON.stringify(text)} is still to come; write when the lot was acquired`;
  if (!isDated({ atMs }))
    return `the day ${JSON.stringify(text)} is not after 1970-01-01; leave it empty where it is not known`;
  return atMs;
}

function instantOf(text: string): number | string {
  try {
    return sinceMs(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  }
}

/** An asset by its contract, `native` for the coin, or by the operator's name for it where only one has it. */
function assetOf(text: string, { entries, tokens }: Known): Asset | string {
  const assets = new Map([...tokens, ...entries.flatMap(assetsOf)].map((asset) => [asset.address, asset]));
  const address = text.toLowerCase() === "native" ? NATIVE_TOKEN : parseAddress(text);
  const found = [...assets.values()].filter((asset) => asset.address === address || asset.symbol === text);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length > 1) return `${JSON.stringify(text)} is the name of ${found.length} contracts: write the address`;
  return `no swap and no configured token is ${JSON.stringify(text)}; write a contract's address or "native"`;
}

/** The block of the last entry up to an instant: lots stand in the order of the chain. */
function blockAt(entries: readonly Entry[], atMs: number): number {
  return entries.findLast((entry) => entry.atMs <= atMs)?.blockNumber ?? 0;
}

/**
 * Adds lots to the entries. What a wallet held when it was first seen is what the lots up to then explain, and a rest of
 * which nobody knows what it cost.
 * @throws CommandFailure when the lots are more than was there
 */
export function withOpeningLots(entries: readonly Entry[], lots: readonly OpeningEntry[]): readonly Entry[] {
  const problems: string[] = [];
  const rest = entries.flatMap((entry): Entry[] => {
    if (entry.kind !== "opening") return [entry];
    const { held, wallet } = entry;
    const before = lots.filter(
      (lot) => lot.wallet === wallet && lot.held.asset.address === held.asset.address && lot.atMs <= entry.atMs,
    );
    const explained = before.reduce((sum, lot) => sum + lot.held.raw, 0n);
    if (explained > held.raw)
      problems.push(
        `the lots of ${held.asset.symbol} in ${wallet} up to ${new Date(entry.atMs).toISOString()} are ${explained}, and it held ${held.raw} then that no swap had brought (in the smallest unit): leave out what had left by then${ofThatDay(before, entry)}`,
      );
    const raw = held.raw - explained;
    return raw > 0n ? [{ ...entry, held: { ...held, raw } }] : [];
  });
  if (problems.length > 0) throw new CommandFailure(EXIT.usage, problems.join("\n"));
  return [...lots, ...rest];
}

/** A wallet is often filled on the day of its first start: after the final block that it was first seen at. */
function ofThatDay(lots: readonly OpeningEntry[], { atMs }: Entry): string {
  const day = utcDay(atMs);
  if (!lots.some((lot) => utcDay(lot.atMs) === day)) return "";
  return `; a day counts from its first moment, so what came in later on ${day} needs an instant behind that one, such as ${new Date(atMs + 1_000).toISOString()}`;
}
