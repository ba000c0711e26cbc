import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { problemIn } from "../../dashboard/source/model/problem.ts";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { holdStart } from "../../src/app/hold-start.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("a start that is held says why to whoever asks by an address, and that it is not well to every other", async () => {
  const [port, stop] = [await freePort(), new AbortController()];
  const listen = { host: "127.0.0.1", port };
  const held = holdStart(
    { problem: "line 3 of swapd.yaml", listen, files: [], longestMs: 60_000 },
    systemClock,
    stop.signal,
  );
  onTestFinished(async () => {
    stop.abort();
    await held;
  });
  const read = async (host: string, path: string): Promise<[number, string]> => {
    const asked = request({ host: "127.0.0.1", port, path, headers: { host } }).end();
    const [response] = await once(asked, "response");
    return [response.statusCode, (await response.toArray()).join("")];
  };
  const ask = async (host: string): Promise<unknown> => {
    const [status, text] = await read(host, "/healthz");
    return [status, JSON.parse(text)];
  };
  const state = { healthy: false, ready: false, started: false };
  await expect
    .poll(() => ask(`127.0.0.1:${port}`).catch(() => "away"))
    .toEqual([503, { ...state, problem: "line 3 of swapd.yaml" }]);
  expect(await ask("localhost")).toEqual([503, { ...state, problem: "line 3 of swapd.yaml" }]);
  expect(await ask(`evil.example:${port}`)).toEqual([503, state]);
  // A page that was open says it too.
  expect(problemIn((await read("localhost", "/api/v1/session"))[1])).toBe("line 3 of swapd.yaml");
  expect(problemIn((await read("evil.example", "/api/v1/session"))[1])).toBeUndefined();
});
