import { inspect } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor } from "../../src/net/redact.ts";
import { hostOf, Secret } from "../../src/net/secret.ts";

const key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

test("a private key is hidden in every form in which errors print it", () => {
  const { redact } = createRedactor([key]);
  for (const form of [key, key.slice(2), key.toUpperCase().replace("0X", "0x"), BigInt(key).toString()]) {
    expect(redact(`invalid BytesLike value (value="${form}")`)).not.toContain(form);
  }
});

test("a registered URL is hidden as a whole and in its parts", () => {
  const { redact } = createRedactor(["https://user:secretpass@rpc.example/v2/AbCdEfGhIjKlMnOp?token=querytoken1"]);
  const text = redact("GET /v2/AbCdEfGhIjKlMnOp token querytoken1 secretpass https://rpc.example/v2/AbCdEfGhIjKlMnOp");
  expect(text).not.toMatch(/AbCdEf|querytoken1|secretpass/);
  expect(redact("connection to rpc.example was reset")).toBe("connection to rpc.example was reset");
});

test("a URL that nobody registered is cut to its origin", () => {
  const { redact } = createRedactor();
  expect(redact("at wss://x.example/ws/v3/0123abcd: closed")).toBe("at wss://x.example/[redacted] closed");
  expect(redact("listening on http://127.0.0.1:8080")).toBe("listening on http://127.0.0.1:8080");
  expect(redact("https://a:b@x.example")).toBe("https://x.example/[redacted]");
});

test("a transaction hash stays readable while a short password does not eat ordinary words", () => {
  const { redact, add } = createRedactor();
  add("test");
  const hash = `0x${"ab".repeat(32)}`;
  expect(redact(`the latest attempt ${hash}, password test`)).toBe(`the latest attempt ${hash}, password [redacted]`);
});

test("no registered secret survives anywhere in a text", () => {
  const secret = fc.string({ minLength: 6, maxLength: 40 }).filter((s) => s.trim().length >= 6);
  fc.assert(
    fc.property(fc.string(), secret, fc.string(), (before, hidden, after) => {
      const trimmed = hidden.trim();
      const text = createRedactor([hidden]).redact(`${before}${trimmed}${after}`);
      expect(text.split("[redacted]").join("").includes(trimmed) && !`${before}${after}`.includes(trimmed)).toBe(false);
    }),
  );
});

test("a secret cannot be printed, joined, serialised or inspected", () => {
  const secret = new Secret("hunter2");
  const shown = [`${secret}`, String(secret), JSON.stringify({ secret }), inspect({ secret }, { showHidden: true })];
  expect(shown.join(" ")).not.toContain("hunter2");
  expect(Object.values(secret)).toEqual([]);
  expect(secret.reveal()).toBe("hunter2");
});

test("only the host of a URL is shown", () => {
  expect(hostOf(new Secret("https://u:p@rpc.example:444/v2/KEY?k=KEY"))).toBe("rpc.example:444");
  expect(hostOf("KEY")).toBe("(not a URL)");
});

test("a secret that is learnt between two texts is gone from the second one", () => {
  const { redact, add } = createRedactor(["first-secret"]);
  expect(redact("first-secret second-secret")).toBe("[redacted] second-secret");
  add("second-secret");
  add("third-secret");
  expect(redact("first-secret second-secret third-secret")).toBe("[redacted] [redacted] [redacted]");
});
