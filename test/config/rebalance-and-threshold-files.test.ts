import { expect, it } from "vitest";
import { FILE_KINDS } from "../../src/config/strategy/kinds.ts";
import { brief, MAIN, problemsOf } from "./project.ts";

const KINDS = Object.keys(FILE_KINDS).join(", ");

it("names every broken strategy, and keeps none", () => {
  const found = problemsOf({
    "main.yaml": MAIN,
    "strategies/a.yaml": "wallet: main\n",
    "strategies/b.yaml": "- x\n",
    "strategies/c.yaml": "kind: [dca]\n",
    "strategies/d.yaml": "",
  }).map((problem) => `${problem.file.slice(-6)} ${brief(problem)}`);
  expect(found).toEqual([
    `a.yaml 1:1 kind: the key "kind" is missing -> kinds are ${KINDS}`,
    "b.yaml 1:1 : the file holds a list, and a strategy is one map of keys -> give each strategy a file of its own, without the dash",
    `c.yaml 1:7 kind: is no kind of strategy -> kinds are ${KINDS}`,
    "d.yaml 1:1 : the file is empty",
  ]);
});
