import { expect, test } from "vitest";
import { asFailure } from "../../src/app/commands/audit.ts";
import { CommandFailure, EXIT } from "../../src/app/exit-codes.ts";
import { AuditError } from "../../src/audit/report.ts";

function failureOf(error: unknown): unknown {
  try {
    return asFailure(error);
  } catch (thrown) {
    return thrown;
  }
}

test("an audit of a chain that cannot be read ends with 75: it says nothing about the rows, and may pass", () => {
  for (const code of ["CHAIN_UNREADABLE", "CHAIN_MOVED"] as const) {
    const failure = failureOf(new AuditError(code, "no node answered"));
    expect(failure).toBeInstanceOf(CommandFailure);
    expect(failure).toMatchObject({ exitCode: EXIT.tryAgain, message: "no node answered" });
  }
});

test("an audit of the wrong chain or file is for a person, and an error of our own stays one", () => {
  for (const code of ["WRONG_CHAIN", "DATABASE_UNREADABLE"] as const) {
    expect(failureOf(new AuditError(code, "no"))).toMatchObject({ exitCode: EXIT.no });
  }
  const own = new TypeError("ours");
  expect(failureOf(own)).toBe(own);
});
