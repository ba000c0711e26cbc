import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { formatProblems } from "../../src/config/problem.ts";
import { project } from "./project.ts";

/**
 * Mistakes that people really make, one file each, and alongside it the text that they are answered with. A file takes the
 * place of the project's main or policy file when its name says so; else it is one more strategy.
 */
const FOLDER = join(import.meta.dirname, "broken");

const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));

/** What `swapd check --offline` prints for a right project with one broken file in it, without the project's own folder. */
function printed(name: string): string {
  const role = /^[0-9]+-(main|policy)-/.exec(name)?.[1];
  const path = role === undefined ? `strategies/${name}` : `${role}.yaml`;
  const folder = project({ [path]: readFileSync(join(FOLDER, name), "utf8") });
  const outcome = loadConfiguration(join(folder, "main.yaml"), {});
  if (outcome.ok) throw new Error(`${name} is accepted`);
  return formatProblems(outcome.problems).replaceAll(`${folder}/`, "");
}

describe("a broken file is answered with its place and the fix", () => {
  it.each(FILES)("%s", (name) => {
    expect(printed(name)).toBe(readFileSync(join(FOLDER, name.replace(/\.yaml$/, ".txt")), "utf8"));
  });

  it("for every kind of strategy, the policy and the main file", () => {
    const about = new Set(FILES.map((name) => /^[0-9]+-(value-averaging|[a-z]+)-/.exec(name)?.[1]));
    const all = ["any", "dca", "main", "policy", "rebalance", "sweep", "threshold", "twap", "value-averaging"];
    expect([...about].sort()).toEqual(all);
    expect(FILES.length).toBeGreaterThanOrEqual(40);
  });
});
