import { expect, test } from "vitest";
import { createNodeClient, NoAnswer, type NodeClient, Refusal } from "../../src/audit/node-client.ts";
import { Secret } from "../../src/net/secret.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

interface Asked {
  readonly id: number;
  readonly method: string;
}

async function client(answer: (asked: readonly Asked[]) => unknown, status = 200): Promise<NodeClient> {
  const { url } = await startHttpServer(async (request, response) => {
    const body = answer(JSON.parse(await readBody(request)));
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return createNodeClient({ url: new Secret(`${url}/v2/PATHKEYPATHKEY`), timeoutMs: 1_000, maxBytes: 10_000 });
}

const QUESTIONS = ["a", "bad", "c"].map((method) => ({ method, params: [] }));
const result = ({ id, method }: Asked) => ({ jsonrpc: "2.0", id, result: method });
const each = (of: (asked: Asked) => unknown) => (asked: readonly Asked[]) => asked.map(of);

test("answers come in the order of the questions, and a node's error stands in its place", async () => {
  const error = { code: -32000, message: "no access for https://rpc.example/v2/PATHKEYPATHKEY" };
  const node = await client((asked) =>
    asked.map((one) => (one.method === "bad" ? { jsonrpc: "2.0", id: one.id, error } : result(one))).reverse(),
  );
  const [a, bad, c] = await node.ask(QUESTIONS);
  expect([a, c]).toEqual(["a", "c"]);
  expect(bad).toBeInstanceOf(Refusal);
  expect(String(bad)).toContain("(code -32000)");
  expect(String(bad)).not.toContain("PATHKEY");
});

test.each([
  ["another id", each((one) => ({ ...result(one), id: one.id + 100 }))],
  ["an id as text", each((one) => ({ ...result(one), id: String(one.id) }))],
  ["result and error", each((one) => ({ ...result(one), error: { code: 1, message: "x" } }))],
  ["neither result nor error", each(({ id }) => ({ jsonrpc: "2.0", id }))],
  ["no version", each(({ id }) => ({ id, result: "0x1" }))],
  ["an error that is a text", each(({ id }) => ({ jsonrpc: "2.0", id, error: "too far back" }))],
  ["one answer twice", each((one) => ({ ...result(one), id: 0 }))],
  ["one answer too few", (asked: readonly Asked[]) => asked.slice(1).map(result)],
  ["no batch", () => ({ jsonrpc: "2.0", id: null, error: { code: 1, message: "one at a time" } })],
  ["a page", () => "<html>PATHKEYPATHKEY</html>"],
  ["too much", each((one) => ({ ...result(one), result: "x".repeat(20_000) }))],
])("an answer with %s proves nothing", async (_, answer) => {
  const node = await client(answer);
  const error = await node.ask(QUESTIONS).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NoAnswer);
  expect(String(error)).not.toContain("PATHKEY");
});

test.each([503, 429, 302])("an answer of HTTP status %d proves nothing", async (status) => {
  const node = await client(each(result), status);
  await expect(node.ask(QUESTIONS)).rejects.toBeInstanceOf(NoAnswer);
});

test("a node that takes no batch is reported by its own words", async () => {
  const node = await client(() => ({ jsonrpc: "2.0", id: null, error: { code: 1, message: "one at a time" } }));
  await expect(node.ask(QUESTIONS)).rejects.toThrow("was not answered as a batch: one at a time");
});
