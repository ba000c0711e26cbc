import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { mutated, readMutants } from "./mutants.ts";

// `npm run test:mutants` runs the tests that each one names.
it.each(readMutants().map((mutant) => [mutant.name, mutant] as const))(
  "the bug %s can be put back",
  (_name, mutant) => {
    const text = readFileSync(mutant.file, "utf8");
    expect(mutated(text, mutant)).not.toBe(text);
    expect(mutant.tests.filter((test) => !existsSync(test))).toEqual([]);
  },
);
