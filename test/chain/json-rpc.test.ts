import { expect, test } from "vitest";
import { createJsonRpc, RpcError } from "../../src/chain/json-rpc.ts";
import { Secret } from "../../src/net/secret.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";

interface Asked {
  id: number;
  method: string;
}

async function client(answer: (asked: Asked & Asked[]) => unknown, status = 200) {
  const { url } = await startHttpServer(async (request, response) => {
    const body = answer(JSON.parse(await readBody(request)));
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  return createJsonRpc({ url: new Secret(`${url}/v2/PATHKEYPATHKEY`), timeoutMs: 1_000, maxBytes: 10_000 });
}

async function failure(work: Promise<unknown>): Promise<RpcError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RpcError)) throw new Error(`expected an RpcError, not ${String(error)}`);
  return error;
}

test("a result is given back, also when it is null", async () => {
  const rpc = await client(({ id, method }) => ({ jsonrpc: "2.0", id, result: method === "a" ? "0x1" : null }));
  expect(await rpc.call("a", [])).toBe("0x1");
  expect(await rpc.call("b", [])).toBeNull();
});

test("a node's error is distinguished from a broken transport, and its URL is redacted", async () => {
  const message = "no access for https://rpc.example/v2/PATHKEYPATHKEY";
  const rpc = await client(({ id }) => ({ jsonrpc: "2.0", id, error: { code: 3, message, data: "0x08c379a0" } }));
  const error = await failure(rpc.call("eth_call", []));
  expect([error.kind, error.code, error.data]).toEqual(["rpc", 3, "0x08c379a0"]);
  expect(`${error.message} ${error.nodeMessage} ${error.stack}`).not.toContain("PATHKEY");
});

test("a node's error in a 4xx is the node's word, in a 5xx it proves nothing", async () => {
  const answer = ({ id }: Asked) => ({ jsonrpc: "2.0", id, error: { code: -32000, message: "nonce too low" } });
  const refused = await client(answer, 400);
  expect((await failure(refused.call("eth_sendRawTransaction", []))).kind).toBe("rpc");
  const broken = await client(answer, 503);
  expect((await failure(broken.call("eth_sendRawTransaction", []))).kind).toBe("transport");
});

test.each([
  ["another id", ({ id }: Asked) => ({ jsonrpc: "2.0", id: id + 1, result: "0x1" })],
  ["an id as text", ({ id }: Asked) => ({ jsonrpc: "2.0", id: String(id), result: "0x1" })],
  ["no id", () => ({ jsonrpc: "2.0", id: null, error: { code: 1, message: "parse error" } })],
  ["result and error", ({ id }: Asked) => ({ jsonrpc: "2.0", id, result: 1, error: { code: 1, message: "x" } })],
  ["neither result nor error", ({ id }: Asked) => ({ jsonrpc: "2.0", id })],
  ["no version", ({ id }: Asked) => ({ id, result: "0x1" })],
  ["an error that is a text", ({ id }: Asked) => ({ jsonrpc: "2.0", id, error: "nonce too low" })],
  ["a list", ({ id }: Asked) => [{ jsonrpc: "2.0", id, result: "0x1" }]],
  ["a page", () => "<html>PATHKEYPATHKEY</html>"],
  ["a cut answer", () => '{"jsonrpc":"2.0","id":1,"resu'],
  ["too much", ({ id }: Asked) => ({ jsonrpc: "2.0", id, result: "x".repeat(20_000) })],
])("an answer with %s is no answer", async (_, answer) => {
  const rpc = await client(answer as (asked: Asked & Asked[]) => unknown);
  const error = await failure(rpc.call("eth_sendRawTransaction", ["0x00"]));
  expect(error.kind).toBe("transport");
  expect(error.message).not.toContain("PATHKEY");
});

test("a batch comes back in the order of its requests, with errors in their places", async () => {
  const rpc = await client((asked) =>
    asked
      .map(({ id, method }) =>
        method === "bad"
          ? { jsonrpc: "2.0", id, error: { code: -32000, message: "no" } }
          : { jsonrpc: "2.0", id, result: method },
      )
      .reverse(),
  );
  const [a, bad, c] = await rpc.batch(["a", "bad", "c"].map((method) => ({ method, params: [] })));
  expect([a, c]).toEqual(["a", "c"]);
  expect(bad).toBeInstanceOf(RpcError);
  expect(await rpc.batch([])).toEqual([]);
});

test("a batch with a missing, doubled or foreign answer is no answer", async () => {
  const missing = await client((asked) => asked.slice(1).map(({ id }) => ({ jsonrpc: "2.0", id, result: 1 })));
  const doubled = await client((asked) => asked.map(() => ({ jsonrpc: "2.0", id: asked[0]?.id, result: 1 })));
  const single = await client(() => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "batch too large" },
  }));
  for (const rpc of [missing, doubled, single]) {
    const error = await failure(rpc.batch(["a", "b"].map((method) => ({ method, params: [] }))));
    expect(error.kind).toBe("transport");
  }
});

test("nobody listening is a transport error that names the host", async () => {
  const rpc = createJsonRpc({ url: "http://127.0.0.1:9/v2/PATHKEYPATHKEY", timeoutMs: 500, maxBytes: 100 });
  const error = await failure(rpc.call("eth_chainId", []));
  expect(error.kind).toBe("transport");
  expect(error.message).toContain("127.0.0.1:9");
  expect(`${error.message}${error.stack}`).not.toContain("PATHKEY");
});
