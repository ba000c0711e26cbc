import { once } from "node:events";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { boundedFetch } from "../../src/net/bounded-fetch.ts";
import { failure } from "./support/failure.ts";
import { startRawServer } from "./support/raw-server.ts";

const bounds = { timeoutMs: 2_000, maxBytes: 1_000 };
const BODY = { method: "POST", body: "{}" } as const;

function saying(text: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

/** Waits without giving the loop a turn. */
function holdUpUntil(isOver: () => boolean): void {
  while (!isOver());
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
}

/** A server in a thread of its own: it goes on while the test holds up everything else. */
async function startInThread(program: string): Promise<{ url: string; count: Int32Array }> {
  const count = new Int32Array(new SharedArrayBuffer(4));
  const server = new Worker(
    `const { createServer } = require("node:net");
    const { parentPort, workerData: count } = require("node:worker_threads");
    const answer = ${JSON.stringify(saying("ok"))};
    const server = createServer((socket) => { socket.on("error", () => undefined); (${program})(socket); });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: count },
  );
  onTestFinished(() => void server.terminate());
  const [port] = (await once(server, "message")) as [number];
  return { url: `http://127.0.0.1:${port}/`, count };
}

const CLOSES_SOON = `(socket) => socket.on("data", () => {
  socket.write(answer);
  setTimeout(() => socket.end(() => Atomics.add(count, 0, 1)), 20);
})`;

/** Goes on in another part of the loop's turn: with timers, with what comes from outside, or where the answer came. */
const PLACES = {
  "with timers": () => sleep(1),
  "with what comes from outside": async () => {
    await sleep(1);
    await stat(".");
  },
  "with the answer": () => Promise.resolve(),
} as const;
const PLACE_NAMES = Object.keys(PLACES) as (keyof typeof PLACES)[];

test.each(PLACE_NAMES)(
  "a kept connection that its server closed while this process was busy %s is not used",
  async (place) => {
    const { url, count } = await startInThread(CLOSES_SOON);
    for (let round = 0; round < 5; round += 1) {
      expect((await boundedFetch({ url, ...bounds, ...BODY })).text).toBe("ok");
      await PLACES[place]();
      holdUpUntil(() => Atomics.load(count, 0) > round);
    }
  },
);

const SAYS_MORE_LATER = `(socket) => {
  let asked = 0;
  socket.on("data", () => {
    asked += 1;
    socket.write(asked === 1 ? answer : answer.replace("ok", "no"));
    if (asked > 1) return;
    setTimeout(() => socket.write(answer.replace("ok", "!!"), () => Atomics.add(count, 0, 1)), 20);
  });
}`;

test.each(["idle", ...PLACE_NAMES] as const)(
  "an answer that nobody asked for is not taken for the next one (%s)",
  async (place) => {
    const { url, count } = await startInThread(SAYS_MORE_LATER);
    for (let round = 0; round < 5; round += 1) {
      expect((await boundedFetch({ url, ...bounds, ...BODY })).text).toBe("ok");
      if (place === "idle") await sleep(60);
      else await PLACES[place]();
      holdUpUntil(() => Atomics.load(count, 0) > round);
    }
  },
);

test.each([
  { method: "POST", broken: "closed" },
  { method: "POST", broken: "reset" },
  { method: "GET", broken: "closed" },
  { method: "GET", broken: "reset" },
] as const)("a $method whose kept connection is $broken is not sent again", async ({ method, broken }) => {
  let asked = 0;
  const { url } = await startRawServer((socket) => {
    socket.on("data", () => {
      asked += 1;
      if (asked === 1) socket.write(saying("ok"));
      else if (broken === "closed") socket.end();
      else socket.resetAndDestroy();
    });
  });
  const request = { url, ...bounds, method, ...(method === "POST" ? { body: "{}" } : {}) };
  expect((await boundedFetch(request)).text).toBe("ok");
  expect((await failure(boundedFetch(request))).kind).toBe("transport");
  await sleep(50);
  expect(asked).toBe(2);
});

test("a request is not written behind one that its server has not read to its end", async () => {
  const { url } = await startRawServer((socket, connection) => {
    socket.once("data", () => {
      if (connection === 0) socket.pause();
      socket.write(saying(String(connection)));
    });
  });
  const long = boundedFetch({ url, ...bounds, method: "POST", body: "x".repeat(20_000_000) });
  expect((await long).text).toBe("0");
  expect((await boundedFetch({ url, ...bounds, ...BODY })).text).toBe("1");
});

test("a long request arrives whole, and its connection is kept", async () => {
  const bytes = 5_000_000;
  let connections = 0;
  const { url } = await startRawServer((socket) => {
    connections += 1;
    let received = "";
    socket.on("data", (piece) => {
      received += piece.toString("latin1");
      const body = received.split("\r\n\r\n")[1] ?? "";
      if (!received.toLowerCase().includes(`content-length: ${bytes}\r\n`) || body.length < bytes) return;
      received = "";
      socket.write(saying(/^x+$/.test(body) ? "whole" : "mixed"));
    });
  });
  for (let round = 0; round < 3; round += 1) {
    const answer = await boundedFetch({ url, timeoutMs: 20_000, maxBytes: 9, method: "POST", body: "x".repeat(bytes) });
    expect(answer.text).toBe("whole");
  }
  expect(connections).toBe(1);
});

test.each([
  { how: "closed", kind: "transport" },
  { how: "reset", kind: "transport" },
  { how: "given up", kind: "aborted" },
] as const)("a long request that is $how in its middle is reported once", async ({ how, kind }) => {
  const controller = new AbortController();
  const { url } = await startRawServer((socket) => {
    socket.once("data", () => {
      socket.pause();
      if (how === "closed") socket.destroy();
      else if (how === "reset") socket.resetAndDestroy();
      else controller.abort();
    });
  });
  const body = "x".repeat(20_000_000);
  const request = { url, ...bounds, method: "POST", body, signal: controller.signal } as const;
  expect((await failure(boundedFetch(request))).kind).toBe(kind);
  await sleep(50);
});

test("a connection is not kept into the last second that its server gives it", async () => {
  const connections: number[] = [];
  const { url } = await startRawServer((socket, connection) => {
    socket.on("data", () => {
      connections.push(connection);
      socket.write(saying("ok").replace("\r\n\r\n", "\r\nkeep-alive: timeout=1\r\n\r\n"));
    });
  });
  for (let round = 0; round < 3; round += 1) await boundedFetch({ url, ...bounds, ...BODY });
  expect(connections).toEqual([0, 1, 2]);
});

test("what a server says before its answer is no answer", async () => {
  let asked = 0;
  const { url } = await startRawServer((socket) => {
    socket.on("data", () => {
      asked += 1;
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
      if (asked === 1) setTimeout(() => socket.write(saying("ok")), 20);
    });
  });
  expect(await boundedFetch({ url, ...bounds, ...BODY })).toMatchObject({ status: 200, text: "ok" });
  const error = await failure(boundedFetch({ url, ...bounds, ...BODY, timeoutMs: 200 }));
  expect([error.kind, error.answer]).toEqual(["timeout", undefined]);
});

const DEAF_UNTIL_TOLD = `
const { createServer } = require("node:net");
const { parentPort, workerData: reported } = require("node:worker_threads");
const server = createServer((socket) => socket.on("error", () => undefined).on("data", () => Atomics.add(reported, 1, 1)));
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(reported, 0, 0));
});`;

test("a request that was given up before there was a connection is never sent", async () => {
  const reported = new Int32Array(new SharedArrayBuffer(8));
  const server = new Worker(DEAF_UNTIL_TOLD, { eval: true, workerData: reported });
  onTestFinished(() => void server.terminate());
  const [port] = (await once(server, "message")) as [number];
  const request = { url: `http://127.0.0.1:${port}/`, ...BODY, maxBytes: 9, timeoutMs: 300 };
  const began = performance.now();
  const lost = await Promise.all(Array.from({ length: 10 }, () => failure(boundedFetch(request))));
  expect(lost.map(({ kind }) => kind)).toEqual(lost.map(() => "timeout"));
  expect(performance.now() - began).toBeLessThan(5_000);
  Atomics.store(reported, 0, 1);
  Atomics.notify(reported, 0);
  // The system knocks again after a second. It has taken the first few connections itself, whose requests it has.
  await sleep(1_500);
  expect(Atomics.load(reported, 1)).toBeLessThan(lost.length / 2);
});
