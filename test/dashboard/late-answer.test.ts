import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";

/** By its name alone: its types are those of a browser. */
const API = new URL("../../dashboard/source/api.ts", import.meta.url).href;

interface Api {
  ask(operation: string, path: string): Promise<unknown>;
}

/** The page's requests, to a server of ours. */
async function begin(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => answer(response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { fetch } = globalThis;
  vi.stubGlobal("location", { pathname: "/" });
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => await fetch(`${origin}${path}`, init));
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
    server.closeAllConnections();
    server.close();
  });
  const { ask } = (await import(API)) as Api;
  return { ask, server };
}

it.each([
  ["no answer", () => undefined],
  ["half an answer", (response: ServerResponse) => void response.writeHead(200).write('{"half":')],
])("says of %s that the daemon did not answer in time", async (_what, answer) => {
  const { ask, server } = await begin(answer);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = ask("getStatus", "/status").catch((error: unknown) => error);
  await once(server, "request");
  // What was written is on its way.
  await new Promise((resolve) => setInterval(resolve, 200).unref());
  vi.advanceTimersByTime(30_000);
  expect(await asked).toMatchObject({ status: 0, message: "the daemon did not answer in time" });
});

it("says of an answer that is cut that the daemon cannot be reached", async () => {
  const { ask } = await begin((response) => {
    response.writeHead(200, { "content-length": 100 }).write("{");
    setTimeout(() => response.destroy(), 50);
  });
  const refused = { status: 0, message: "the daemon cannot be reached" };
  await expect(ask("getStatus", "/status")).rejects.toMatchObject(refused);
});
