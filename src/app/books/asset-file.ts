import type { Entry } from "../../domain/books/entry.ts";
import { type Address, NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { type NameRules, nameAssets } from "./asset-names.ts";
import { readCsv } from "./csv-text.ts";
import { assetsOf } from "./ledger-parts.ts";
import { readText } from "./opening-lots.ts";

/**
 * Names assets in a format's way.
 * @throws CommandFailure when a name that was given cannot be one there
 */
export function nameAssetsFor(
  entries: readonly Entry[],
  file: string | undefined,
  rules: NameRules,
): ReadonlyMap<Address, string> {
  const given = file === undefined ? new Map<Address, string>() : readAssetFile(file);
  const names = nameAssets(entries.flatMap(assetsOf), given, rules);
  if (names.ok) return names.names;
  throw new CommandFailure(
    EXIT.usage,
    names.problems.map((problem) => (file === undefined ? problem : `${file}: ${problem}`)).join("\n"),
  );
}

/**
 * Reads the owner's names of assets: `address,name`, with `native` for the coin of the network.
 * @throws CommandFailure with all problems at once
 */
export function readAssetFile(file: string): ReadonlyMap<Address, string> {
  const { rows, problems } = readCsv(readText(file), { needed: ["address", "name"], optional: [] });
  const found = [...problems];
  const names = new Map<Address, string>();
  for (const { line, cells } of rows) {
    const text = cells.get("address") ?? "";
    const address = text.toLowerCase() === "native" ? NATIVE_TOKEN : parseAddress(text);
    if (address === undefined)
      found.push(`line ${line}: ${JSON.stringify(text)} is no address; write one, or "native"`);
    else if (names.has(address)) found.push(`line ${line}: ${address} has a name already`);
    else names.set(address, cells.get("name") ?? "");
  }
  if (found.length > 0) throw new CommandFailure(EXIT.usage, found.map((problem) => `${file}: ${problem}`).join("\n"));
  return names;
}
