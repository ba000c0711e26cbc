import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createMarkerFiles, MarkerError } from "../../../src/adapters/identity/marker-files.ts";
import { troubleOf } from "../../../src/app/start-trouble.ts";
import type { Marker } from "../../../src/ports/identity-marker.ts";
import { USDC, WALLET } from "../../support/builders.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const CHAIN = 31_337;
const marker: Marker = {
  state: { id: "database_1", signatures: 3, signings: 5 },
  baseline: { block: 17, transactionCount: 2 },
};

function fileWith(text: string): string {
  const folder = join(temporaryDirectory(), "identity");
  mkdirSync(folder);
  writeFileSync(join(folder, `${CHAIN}-${WALLET}.json`), text);
  return folder;
}

const read = (folder: string) => createMarkerFiles(folder, CHAIN).read(WALLET);

test("a marker is read as it was written, one wallet and chain a file, and nothing unfinished stays behind", () => {
  const folder = join(temporaryDirectory(), "deep", "identity");
  const files = createMarkerFiles(folder, CHAIN);
  expect(files.read(WALLET)).toBeUndefined();
  for (const written of [{ state: undefined, baseline: undefined }, { ...marker, baseline: undefined }, marker]) {
    files.write(WALLET, written);
    expect(files.read(WALLET)).toEqual(written);
  }
  expect(files.read(USDC.address), "of another wallet").toBeUndefined();
  expect(createMarkerFiles(folder, 1).read(WALLET), "of another chain").toBeUndefined();
  expect(readdirSync(folder)).toEqual([`${CHAIN}-${WALLET}.json`]);
});

describe("a file that is no marker of this wallet and chain", () => {
  const good = { version: 1, chainId: CHAIN, wallet: WALLET, ...marker };
  test.each([
    ["is empty", ""],
    ["is cut off", JSON.stringify(good).slice(0, -9)],
    ["is null", "null"],
    ["is a list", "[]"],
    ["has a later version", JSON.stringify({ ...good, version: 2 })],
    ["has no state but null", JSON.stringify({ ...good, state: null })],
    ["has a state without counts", JSON.stringify({ ...good, state: { id: "database_1" } })],
    ["counts below nothing", JSON.stringify({ ...good, state: { ...marker.state, signatures: -1 } })],
    ["has a block that is text", JSON.stringify({ ...good, baseline: { block: "17", transactionCount: 2 } })],
    ["is of another chain", JSON.stringify({ ...good, chainId: 1 })],
    ["is of another wallet", JSON.stringify({ ...good, wallet: USDC.address })],
  ])("%s: it is no absence, and a person must change a file", (_what, text) => {
    const folder = fileWith(text);
    expect(() => read(folder)).toThrow(MarkerError);
    expect(() => read(folder)).toThrow(`${CHAIN}-${WALLET}.json`);
    let thrown: unknown;
    try {
      read(folder);
    } catch (error) {
      thrown = error;
    }
    expect(troubleOf(thrown)).toMatchObject({ kind: "person", exitCode: 78 });
    expect(readFileSync(join(folder, `${CHAIN}-${WALLET}.json`), "utf8"), "left as it was").toBe(text);
  });

  test("cannot be written where a file stands in the folder's place, and says which", () => {
    const folder = join(temporaryDirectory(), "identity");
    writeFileSync(folder, "");
    const write = () => createMarkerFiles(folder, CHAIN).write(WALLET, marker);
    expect(write).toThrow(MarkerError);
    expect(write).toThrow(folder);
  });
});
