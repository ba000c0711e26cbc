import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COMPILED_FROM, compiledFrom } from "../../contracts/compile.ts";

test("no source of a contract has changed since it was compiled: npm run contracts compiles them", () => {
  expect(JSON.parse(readFileSync(COMPILED_FROM, "utf8"))).toEqual(compiledFrom());
});
