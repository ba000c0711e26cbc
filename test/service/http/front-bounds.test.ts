import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { answer } from "../../../src/service/http/answer.ts";
import { type ConnectionLimits, createConnections } from "../../../src/service/http/connections.ts";
import { BODY, NETWORKS, start } from "../support/bare-server.ts";
import { createHandClock } from "../support/hand-clock.ts";

const PREFLIGHT = { method: "OPTIONS", headers: { origin: "https://app.example" } };

test("every path is counted: documents, unknown ones, those that cannot be read, and what browsers ask before", async () => {
  for (const [path, init] of [
    ["/openapi.json", {}],
    ["/docs", {}],
    ["/nothing", {}],
    ["/%zz", {}],
    [NETWORKS, PREFLIGHT],
  ] as const) {
    const { url } = await start({ corsOrigins: ["https://app.example"] });
    for (let count = 0; count < 3; count += 1) {
      const response = await fetch(url + path, init);
      expect(response.status, path).not.toBe(429);
      expect(response.headers.get("RateLimit-Remaining"), path).toBe(String(2 - count));
    }
    const refused = await fetch(url + path, init);
    expect([refused.status, await refused.json()], path).toEqual([429, { message: "API rate limit exceeded" }]);
  }
});

test("what a client expects besides is no way past the limit", async () => {
  const { url } = await start();
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const asked = httpRequest(url + NETWORKS, { headers: { expect: "much" } }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      asked.on("error", reject).end();
    });
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push(await ask());
  expect(statuses).toEqual([200, 200, 200, 429]);
});

test("looks at the health have a count of their own, so that callers of the same address shut out no supervisor", async () => {
  const { url } = await start();
  for (let count = 0; count < 5; count += 1) await fetch(url + NETWORKS);
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await fetch(`${url}/health`)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

test("what is the same for everybody is made once, and not sent again to who has it", async () => {
  for (const path of ["/openapi.json", "/docs"]) {
    const { url } = await start();
    const first = await fetch(url + path);
    const tag = first.headers.get("etag") ?? "";
    expect(tag, path).toMatch(/^"[\w-]{20,}"$/);
    expect((await first.text()).length).toBeGreaterThan(10_000);
    const again = await fetch(url + path, { headers: { "if-none-match": `"old", W/${tag}` } });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", tag]);
    expect((await fetch(url + path, { headers: { "if-none-match": '"old"' } })).status).toBe(200);
  }
});

test("keys are looked up within a limit only: random ones of an address, and known ones beyond theirs", async () => {
  const { url, clock, lookUps } = await start({ keys: { partner: { requestsPerSecond: 2 } } });
  const ask = async (apikey: string) => (await fetch(url + NETWORKS, { headers: { apikey } })).status;
  const guesses: number[] = [];
  for (let guess = 0; guess < 6; guess += 1) guesses.push(await ask(`guess-${guess}`));
  expect(guesses).toEqual([401, 401, 401, 429, 429, 429]);
  expect(lookUps()).toBe(3);
  clock.advance(1_000);
  expect([await ask("partner"), await ask("partner"), await ask("partner")]).toEqual([200, 200, 429]);
  expect(lookUps()).toBe(5);
  // Who guesses keys behind the same address does not shut out a key that is known.
  clock.advance(1_000);
  for (let guess = 0; guess < 6; guess += 1) await ask(`other-${guess}`);
  expect(await ask("partner")).toBe(200);
});

test("a request that costs more than others takes more of its caller's limit, all of it at most", async () => {
  const { url, clock } = await start({ limits: { keyless: 10, keyed: 20 } }, async (_input, caller) => {
    return caller.charge(6) ?? answer(BODY);
  });
  const ask = async (headers: Record<string, string> = {}) => {
    const response = await fetch(url + NETWORKS, { headers });
    return [response.status, response.headers.get("RateLimit-Remaining")];
  };
  expect(await ask()).toEqual([200, "4"]);
  expect(await ask()).toEqual([429, "0"]);
  expect(await ask({ apikey: "configured" })).toEqual([200, "14"]);
  clock.advance(1_000);
  expect(await ask()).toEqual([200, "4"]);
  const small = await start({ limits: { keyless: 3, keyed: 5 } }, async (_input, caller) => {
    return caller.charge(20) ?? answer(BODY);
  });
  expect((await fetch(small.url + NETWORKS)).status).toBe(200);
  expect((await fetch(small.url + NETWORKS)).status).toBe(429);
});

/** Opens a connection, from one of this machine's addresses, and shows whether it was closed at once. */
async function open(port: number, localAddress: string): Promise<{ socket: Socket; isCut: () => boolean }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  onTestFinished(() => void socket.destroy());
  let isClosed = false;
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
  });
  socket.resume();
  await once(socket, "connect");
  return { socket, isCut: () => isClosed };
}

async function boundServer(limits: Partial<ConnectionLimits>, trustedProxies: string[] = []) {
  const clock = createHandClock(1_900_000_000_000);
  const all = { total: 100, perAddress: 100, newPerSecond: 100, ...limits };
  const connections = createConnections({ clock, trustedProxies }, all);
  const server = createHttpServer(connections.guard((_request, response) => response.end("{}")));
  let parsed = 0;
  server.prependListener("request", () => (parsed += 1));
  connections.bound(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, clock, parsed: () => parsed };
}

const cutOf = (opened: readonly { isCut: () => boolean }[]) => opened.filter(({ isCut }) => isCut()).length;

test("an address has so many connections, others have theirs, and a place is free again when one ends", async () => {
  const { port } = await boundServer({ perAddress: 3 });
  const ours: Awaited<ReturnType<typeof open>>[] = [];
  for (let count = 0; count < 5; count += 1) ours.push(await open(port, "127.0.0.1"));
  await expect.poll(() => cutOf(ours)).toBe(2);
  const other = await open(port, "127.0.0.2");
  other.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(other.socket, "data");
  ours[0]?.socket.destroy();
  await expect
    .poll(async () => {
      const again = await open(port, "127.0.0.1");
      again.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      return await Promise.race([once(again.socket, "data").then(() => "served"), once(again.socket, "close")]);
    })
    .toBe("served");
});

test("a customer of a network, who has all addresses of it, is one address", () => {
  const connections = createConnections(
    { clock: createHandClock(1_900_000_000_000), trustedProxies: [] },
    { total: 100, perAddress: 2, newPerSecond: 100 },
  );
  const server = createHttpServer();
  connections.bound(server);
  const isTaken = (remoteAddress: string): boolean => {
    const socket = new Socket();
    onTestFinished(() => void socket.destroy());
    Object.defineProperty(socket, "remoteAddress", { value: remoteAddress });
    server.emit("connection", socket);
    return !socket.destroyed;
  };
  expect(["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3"].map(isTaken)).toEqual([true, true, false]);
  expect(["2001:db8:1:3::1", "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"].map(isTaken)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("an address opens so many connections in a second; a trusted proxy carries many callers and is not bounded", async () => {
  for (const [proxies, cut] of [
    [[], 2],
    [["127.0.0.0/8"], 0],
  ] as const) {
    const { port, clock } = await boundServer({ newPerSecond: 3 }, [...proxies]);
    const opened: Awaited<ReturnType<typeof open>>[] = [];
    for (let count = 0; count < 5; count += 1) opened.push(await open(port, "127.0.0.1"));
    await expect.poll(() => cutOf(opened)).toBe(cut);
    clock.advance(1_000);
    const later = await open(port, "127.0.0.1");
    later.socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(later.socket, "data");
  }
});

test("a connection that sends far ahead of its answers is cut, and costs no more than the requests before that", async () => {
  let handled = 0;
  const { port, server } = await start({ limits: { keyless: 100_000, keyed: 100_000 } }, async () => {
    handled += 1;
    return answer(BODY);
  });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(`GET ${NETWORKS} HTTP/1.1\r\nhost: a\r\n\r\n`.repeat(500));
  await once(socket, "close");
  expect(handled).toBeLessThanOrEqual(16);
  // Nobody else notices.
  const response = await fetch(`http://127.0.0.1:${port}${NETWORKS}`);
  expect(response.status).toBe(200);
  expect(server.server.maxConnections).toBe(4_096);
});

test("a flood of requests costs a few of them a connection: of a cut one and of those after it nothing more is parsed", async () => {
  const { port, parsed } = await boundServer({});
  const flood = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.resume();
    const requests = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2_000);
    const send = (): void => {
      if (socket.writable && socket.write(requests)) setImmediate(send);
    };
    socket.on("connect", send).on("drain", send);
    await new Promise((resolve) => socket.on("close", resolve));
  };
  for (let count = 0; count < 8; count += 1) await flood();
  const ofCutOnes = parsed();
  expect(ofCutOnes).toBeLessThan(8 * 64);
  await flood();
  expect(parsed(), "nothing is read of the next one").toBe(ofCutOnes);
});

/** One request after the other, until none is answered. @returns how many were refused */
async function knock(url: string, headersOf: (round: number) => Record<string, string> = () => ({})): Promise<number> {
  const ask = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve) => {
      const asked = httpRequest(url + NETWORKS, { headers }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      asked.on("error", () => resolve(0));
      asked.end();
    });
  let refused = 0;
  for (let round = 0; round < 700; round += 1) {
    const status = await ask(headersOf(round));
    if (status === 429) refused += 1;
    if (status === 0) break;
  }
  return refused;
}

test("a caller that goes on far beyond its limit loses its connection, and a client in step with its answers does not", async () => {
  const { url } = await start({ limits: { keyless: 3, keyed: 5 } });
  const refused = await knock(url);
  expect(refused).toBeGreaterThanOrEqual(250);
  expect(refused).toBeLessThanOrEqual(500);
});

test("a caller that names another key each time is one caller", async () => {
  const { url } = await start({ limits: { keyless: 3, keyed: 5 } });
  expect(await knock(url, (round) => ({ apikey: `guess-${round}` }))).toBeLessThanOrEqual(500);
});

test("a trusted proxy loses no connection for what one of its callers does", async () => {
  const { url } = await start({ limits: { keyless: 3, keyed: 5 }, trustedProxies: ["127.0.0.0/8"] });
  expect(await knock(url, () => ({ "x-forwarded-for": "192.0.2.1" }))).toBe(697);
});
