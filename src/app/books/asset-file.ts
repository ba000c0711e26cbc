import { type Address, NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { readCsv } from "./csv-text.ts";
import { readText } from "./opening-lots.ts";

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
