import { expect, test } from "vitest";
import { asFailure, auditInTurn, readSince } from "../../src/app/commands/audit.ts";
import { CommandFailure, EXIT } from "../../src/app/exit-codes.ts";
import { noteAge } from "../../src/audit/late-nodes.ts";
import { AuditError, type AuditReport } from "../../src/audit/report.ts";

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

test("a chain that cannot be read at one endpoint is audited at the next, as a whole", async () => {
  const reported: string[] = [];
  const terminal = { err: (text: string) => void reported.push(text) };
  const asked: unknown[] = [];
  const answering = (failure: (url: unknown) => Error | undefined) => async (url: unknown) => {
    asked.push(url);
    const error = failure(url);
    if (error !== undefined) throw error;
    return `of ${url}`;
  };
  const unreadable = new AuditError("CHAIN_UNREADABLE", "one.example: no answer");
  const urls = ["one", "two", "three"];
  const isFirst = answering((url) => (url === "one" ? unreadable : undefined));
  await expect(auditInTurn(urls, isFirst, terminal)).resolves.toBe("of two");
  expect(asked.splice(0)).toEqual(["one", "two"]);
  expect(reported).toEqual(["the next RPC endpoint is asked: one.example: no answer"]);
  await expect(
    auditInTurn(
      urls,
      answering(() => unreadable),
      terminal,
    ),
  ).rejects.toBe(unreadable);
  expect(asked.splice(0)).toEqual(urls);
  const unopened = new AuditError("DATABASE_UNREADABLE", "no database");
  await expect(
    auditInTurn(
      urls,
      answering(() => unopened),
      terminal,
    ),
  ).rejects.toBe(unopened);
  expect(asked).toEqual(["one"]);
  await expect(auditInTurn([], isFirst, terminal)).rejects.toMatchObject({ exitCode: EXIT.configuration });
});

test.each([
  ["has not come to where the audit is to begin", "NOTHING_SINCE"],
  ["is of another chain", "WRONG_CHAIN"],
] as const)("an endpoint that %s is no answer while there is another", async (_hazard, code) => {
  const nothing = new AuditError(code, "one.example: nothing would be looked at");
  const ask = async (url: unknown) => (url === "one" ? Promise.reject(nothing) : `of ${url}`);
  const terminal = { err: () => undefined };
  await expect(auditInTurn(["one", "two"], ask, terminal)).resolves.toBe("of two");
  await expect(auditInTurn(["one"], ask, terminal)).rejects.toBe(nothing);
});

test("notes that the newest block is old by this machine's clock: nobody looked at what came after it", () => {
  const seconds = Date.parse("2026-02-01T00:00:00Z") / 1_000;
  const report = { notes: [], tip: { number: 9, hash: "0x", seconds } } as unknown as AuditReport;
  expect(noteAge(report, (seconds + 60) * 1_000)).toBe(report);
  expect(noteAge(report, (seconds - 86_400) * 1_000), "a clock that is behind").toBe(report);
  expect(noteAge(report, (seconds + 86_400) * 1_000).notes).toEqual([
    "What came after block 9, the newest that the endpoint knows: it is of 2026-02-01T00:00:00.000Z, 1440 minutes before this machine's clock.",
  ]);
});

test("an audit begins at a block, an instant, or so long ago", () => {
  const nowMs = Date.parse("2026-02-01T00:00:10Z");
  expect(readSince("21000000", nowMs)).toEqual({ block: 21_000_000 });
  expect(readSince("7d", nowMs)).toEqual({ seconds: nowMs / 1_000 - 7 * 86_400 });
  expect(readSince("2026-01-31T09:00:00Z", nowMs)).toEqual({ seconds: Date.parse("2026-01-31T09:00:00Z") / 1_000 });
  for (const text of ["", "yesterday", "7x", "-5", "1.5", "2026-02-01T00:00:11Z", "2062-01-31"]) {
    expect(() => readSince(text, nowMs)).toThrow(CommandFailure);
  }
});
