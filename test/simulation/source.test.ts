import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { sourceOfSeeds } from "./source.ts";

/** Loads what a process of seeds loads, and says which files of src/ Node's own loader was asked for. */
const LOADS = `
import { registerHooks } from "node:module";
const files = [];
registerHooks({
  load(url, context, next) {
    const at = url.indexOf("/src/");
    if (at !== -1 && !url.includes("/node_modules/")) files.push(url.slice(at + "/src/".length));
    return next(url, context);
  },
});
await import(process.argv[1]);
console.log(JSON.stringify(files.sort()));
process.exit(0);
`;

test("the source of a campaign is what Node loads for it", async () => {
  const entry = new URL("seed-process.ts", import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", LOADS, entry]);
  expect(sourceOfSeeds().files).toEqual(JSON.parse(stdout));
});
