import ts from "typescript";
import { describe, expect, it } from "vitest";
import { errorsDocument } from "../../scripts/errors-document.ts";
import { DENIALS } from "../../src/domain/guard/denial.ts";
import { OPERATING_MODES } from "../../src/domain/run/operating-mode.ts";
import { SIGNED_REASONS, SLOT_REASONS, STRATEGY_REASONS, UNSIGNED_REASONS } from "../../src/domain/run/reasons.ts";
import { readText, typescriptBelow } from "./support/repository.ts";
import { nodesOf, parseFile } from "./support/syntax.ts";

const EXPLAINED = new Set<string>(
  [SIGNED_REASONS, SLOT_REASONS, STRATEGY_REASONS, UNSIGNED_REASONS, DENIALS].flatMap((table) => Object.keys(table)),
);

/** Words that are written where a reason is given: `reason: "word"`, or a variable named so. Sentences are not words. */
function reasonsWrittenIn(path: string): readonly string[] {
  return [...nodesOf(parseFile(path))].flatMap((node) => {
    const given = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node) ? node : undefined;
    if (given?.initializer === undefined || given.name.getText() !== "reason") return [];
    return [...nodesOf(given.initializer)]
      .filter((inner) => ts.isStringLiteral(inner))
      .filter((literal) => !ts.isBinaryExpression(literal.parent))
      .map((literal) => literal.text)
      .filter((text) => /^[a-z]+(?:[_-][a-z]+)*$/.test(text));
  });
}

describe("docs/ERRORS.md", () => {
  it("is what the tables in the code say", () => {
    expect(readText("docs/ERRORS.md")).toBe(errorsDocument());
  });

  it("explains every reason that a run, a swap or a slot can get", () => {
    const written = [...typescriptBelow("src/domain/run"), ...typescriptBelow("src/engine")].flatMap(reasonsWrittenIn);
    const known = [...new Set([...written, ...OPERATING_MODES.filter((mode) => mode !== "active")])];
    expect(known.filter((reason) => !EXPLAINED.has(reason))).toEqual([]);
    expect(known).toContain("quote_unavailable");
  });

  it("explains nothing that cannot happen", () => {
    const code = typescriptBelow("src")
      .filter((path) => path !== "src/domain/run/reasons.ts" && path !== "src/domain/guard/denial.ts")
      .map(readText)
      .join("\n");
    expect([...EXPLAINED].filter((word) => !code.includes(`"${word}"`))).toEqual([]);
  });
});

it("no sentence of a decision, a check or a record tells people a time in milliseconds", () => {
  const told = [...typescriptBelow("src/domain"), ...typescriptBelow("src/engine")].filter((path) =>
    /\} (?:ms|milliseconds)\b/.test(readText(path)),
  );
  expect(told).toEqual([]);
});
