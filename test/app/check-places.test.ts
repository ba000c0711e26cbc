import { accessSync, constants, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkPlaces } from "../../src/app/check-places.ts";
import { loaded, MAIN } from "../config/project.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const AWAY = 'service: { profile: swapd, url: "https://swaps.example", settlement:';

/** What is found of a configuration with these places, as `what` and what is wrong with it. */
function foundOf(places: string, main = MAIN): readonly (readonly [string, string])[] {
  const findings = checkPlaces(loaded({ "main.yaml": `${main}${places}` }));
  return findings.map(({ what, found, whatToDo }) => [what, `${found} -> ${whatToDo}`] as const);
}

const missing = (folder: string) => expect.stringContaining(`the folder ${folder} does not exist: make it, or mount`);

test("a folder of a database that is not there, or is none, is a problem of a check, as it ends the start", () => {
  const folder = temporaryDirectory();
  expect(foundOf(`database: ${folder}/swapd.db\nserve: { database: ${folder}/service.db }\n`)).toEqual([]);
  const places = `database: ${folder}/none/swapd.db\nserve: { database: ${folder}/gone/service.db }\n`;
  const found = foundOf(places);
  expect(found).toEqual([
    ["database", missing(`${folder}/none`)],
    ["serve.database", missing(`${folder}/gone`)],
  ]);
  expect(found[0]?.[1]).toMatch(/name another place as `database`$/);
  const elsewhere = MAIN.replace("service: { profile: swapd, url: embedded, settlement:", AWAY);
  expect(foundOf(places, elsewhere), "no service is embedded").toEqual([["database", missing(`${folder}/none`)]]);
  writeFileSync(join(folder, "file"), "");
  const within = foundOf(`database: ${folder}/file/swapd.db\n`, elsewhere);
  expect(within).toEqual([["database", expect.stringContaining(`${folder}/file is no folder`)]]);
});

test("markers need a folder only above them, and none on paper", () => {
  const folder = temporaryDirectory();
  expect(foundOf(`identity: ${folder}/made/by/the/start\n`)).toEqual([]);
  expect(existsSync(join(folder, "made")), "nothing is made by a check").toBe(false);
  writeFileSync(join(folder, "file"), "");
  const place = `identity: ${folder}/file/markers\n`;
  expect(foundOf(place)).toEqual([["identity", expect.stringContaining(`${folder}/file is no folder`)]]);
  const onPaper = MAIN.replace("mode: live", "mode: paper").replace(/main: .*/, "main: { paper: { USDC: 5 } }");
  expect(foundOf(place, onPaper)).toEqual([]);
});

const READ_ONLY = ["/sys", "/proc/sys"].find((folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
});

test.runIf(READ_ONLY !== undefined)("a place that is mounted to be read only is a problem of a check", () => {
  const found = foundOf(`identity: ${READ_ONLY}/markers\n`);
  expect(found).toEqual([["identity", expect.stringContaining(`${READ_ONLY} is mounted to be read only`)]]);
});
