import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startHttpServer } from "../support/http-server.ts";

/** What the environment of a machine may change of every HTTP client of Node, asked of a process of its own. */
async function fetchIn(
  env: Record<string, string>,
  url: string,
): Promise<{ readonly said: string; readonly endedAfterMs: number }> {
  const module = new URL("../../src/net/bounded-fetch.ts", import.meta.url).href;
  const program = `
    const { boundedFetch } = await import(${JSON.stringify(module)});
    const bounds = { timeoutMs: 5_000, maxBytes: 100 };
    const said = await boundedFetch({ url: ${JSON.stringify(url)}, ...bounds }).then(({ text }) => text, String);
    const answeredMs = performance.now();
    process.on("exit", () => console.log(JSON.stringify({ said, endedAfterMs: performance.now() - answeredMs })));`;
  const options = { env: { PATH: process.env.PATH ?? "", ...env } };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--no-warnings", "--input-type=module", "-e", program],
    options,
  );
  return JSON.parse(stdout);
}

/** A server whose certificate nobody vouches for. */
async function startUnvouched(): Promise<string> {
  const pem = readFileSync(fileURLToPath(new URL("../fixtures/self-signed.pem", import.meta.url)), "utf8");
  const server = createServer({ key: pem, cert: pem }, (_, response) => void response.end("taken"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test("a certificate that nobody vouches for is refused, also where the environment switches the checks off", async () => {
  const url = await startUnvouched();
  const control = request(url, { rejectUnauthorized: false, agent: false }).end();
  const [{ statusCode }] = (await once(control, "response")) as [{ statusCode: number }];
  expect(statusCode).toBe(200);
  for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }]) {
    expect((await fetchIn(env, url)).said).toMatch(/FetchError: .*(SELF_SIGNED|CERT)/);
  }
});

test("a proxy that the environment names sees no request", async () => {
  let seen = 0;
  const proxy = await startHttpServer((_, response) => {
    seen += 1;
    response.end("of the proxy");
  });
  const server = await startHttpServer((_, response) => void response.end("of the server"));
  const named = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: "1" };
  expect((await fetchIn(named, `${server.url}/`)).said).toBe("of the server");
  expect(seen).toBe(0);
});

test("a connection that is kept does not keep its process", async () => {
  const { url } = await startHttpServer((_, response) => void response.end("ok"));
  const { said, endedAfterMs } = await fetchIn({}, `${url}/`);
  expect(said).toBe("ok");
  expect(endedAfterMs).toBeLessThan(2_000);
});
