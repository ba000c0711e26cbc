import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { boundedFetch } from "../../src/net/bounded-fetch.ts";
import { startHttpServer } from "../support/http-server.ts";
import { failure } from "./support/failure.ts";
import { startRawServer } from "./support/raw-server.ts";

const bounds = { timeoutMs: 2_000, maxBytes: 1_000 };

function abortable(): { signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** Says the same to whatever is asked first on a connection. */
function saying(answer: string): (socket: Socket) => void {
  return (socket) => socket.once("data", () => socket.write(answer));
}

test("any status is an answer, also 5xx", async () => {
  const { url } = await startHttpServer((_, response) => response.writeHead(503, { "x-a": "b" }).end("busy"));
  const answer = await boundedFetch({ url, ...bounds });
  expect([answer.status, answer.header("x-a"), answer.text]).toEqual([503, "b", "busy"]);
});

test("an API key is not carried to another host by a redirect", async () => {
  const stolen: unknown[] = [];
  const thief = await startHttpServer((request, response) => {
    stolen.push(request.headers.apikey);
    response.end();
  });
  const { url } = await startHttpServer((_, response) => response.writeHead(307, { location: thief.url }).end());
  const error = await failure(boundedFetch({ url, headers: { apikey: "KEY" }, ...bounds }));
  expect(error.kind).toBe("redirect");
  expect(stolen).toEqual([]);
});

test("a body is cut off at its limit, also when it is small before decompression", async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  expect(bomb.length).toBeLessThan(2_000);
  const { url } = await startHttpServer((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  expect((await failure(boundedFetch({ url, timeoutMs: 2_000, maxBytes: 100_000 }))).kind).toBe("too large");
});

test("a compressed body is read, a cut one is no answer, and neither is one in a form that nobody asked for", async () => {
  const whole = gzipSync("a text that is long enough to be cut");
  const bodies: Record<string, { readonly encoding: string; readonly body: Buffer }> = {
    "/whole": { encoding: "gzip", body: whole },
    "/cut": { encoding: "gzip", body: whole.subarray(0, -12) },
    "/other": { encoding: "zstd", body: whole },
  };
  const { url } = await startHttpServer((request, response) => {
    const { encoding, body } = bodies[request.url ?? ""]!;
    response.writeHead(200, { "content-encoding": encoding }).end(body);
  });
  const from = (path: string) => boundedFetch({ url: new URL(path, url).href, ...bounds });
  expect((await from("/whole")).text).toBe("a text that is long enough to be cut");
  expect((await failure(from("/cut"))).kind).toBe("transport");
  expect((await failure(from("/other"))).kind).toBe("transport");
});

test("servers between that compress in their own way are understood, and an empty body is empty in all of them", async () => {
  const bodies: Record<string, Buffer | string> = {
    "x-gzip": gzipSync("text"),
    deflate: deflateSync("text"),
    br: brotliCompressSync("text"),
    "": "text",
  };
  const { url } = await startHttpServer((request, response) => {
    const [, encoding = "", kind] = (request.url ?? "").split("/");
    response.setHeader("content-encoding", encoding);
    if (kind === "whole") response.end(bodies[encoding]);
    else response.writeHead(kind === "none" ? 204 : 200).end();
  });
  for (const encoding of Object.keys(bodies)) {
    const texts = ["whole", "none", "empty"].map(async (kind) => {
      return (await boundedFetch({ url: `${url}/${encoding}/${kind}`, ...bounds })).text;
    });
    expect([encoding, ...(await Promise.all(texts))]).toEqual([encoding, "text", "", ""]);
  }
});

test("a body that ends before its announced length is no answer", async () => {
  const { url } = await startHttpServer((_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => response.destroy(), 20);
  });
  expect((await failure(boundedFetch({ url, ...bounds }))).kind).toBe("transport");
});

test("a server that wants to speak another protocol is left at once", async () => {
  const answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhello";
  const { url, open } = await startRawServer(saying(answer));
  expect((await failure(boundedFetch({ url, ...bounds }))).kind).toBe("transport");
  while (open.size > 0) await sleep(5);
});

test("an answer before the end of the request is taken, and its connection is given back", async () => {
  const { url, open } = await startRawServer((socket) => {
    socket.write("HTTP/1.1 413 Content Too Large\r\ncontent-length: 4\r\n\r\nlong");
    // Reads the beginning only, but hears when the other side is gone.
    socket.once("data", () => {
      socket.pause();
      const poke = setInterval(() => socket.write("x"), 10);
      socket.on("close", () => clearInterval(poke));
    });
  });
  const answer = await boundedFetch({ url, ...bounds, method: "POST", body: "x".repeat(20_000_000) });
  expect([answer.status, answer.text]).toEqual([413, "long"]);
  while (open.size > 0) await sleep(5);
});

test("an answer is whole when its server sends more than it may", async () => {
  const withBody = await startRawServer(saying("HTTP/1.1 204 No Content\r\n\r\nok"));
  expect(await boundedFetch({ url: withBody.url, ...bounds })).toMatchObject({ status: 204, text: "" });
  const twice = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
  const repeating = await startRawServer(saying(`${twice}${twice}garbage`));
  expect(await boundedFetch({ url: repeating.url, ...bounds })).toMatchObject({ status: 200, text: "{}" });
  while (withBody.open.size + repeating.open.size > 0) await sleep(5);
});

test("a header that comes twice is reported with both values", async () => {
  const { url } = await startHttpServer((_, response) =>
    response.writeHead(200, { "ratelimit-limit": ["1", "2"] }).end(),
  );
  expect((await boundedFetch({ url, ...bounds })).header("ratelimit-limit")).toBe("1, 2");
});

test("requests share a connection, until the server closes it", async () => {
  const ports: (number | undefined)[] = [];
  const { url } = await startHttpServer((request, response) => {
    ports.push(request.socket.remotePort);
    if (request.url === "/last") response.setHeader("connection", "close");
    response.end();
  });
  for (const path of ["/", "/", "/last", "/"]) await boundedFetch({ url: new URL(path, url).href, ...bounds });
  const [first, second, last, after] = ports;
  expect([second, last, after === first]).toEqual([first, first, false]);
});

test("an abort ends everything that waits for it, and one before the request sends nothing", async () => {
  let asked = 0;
  const { url } = await startHttpServer(() => {
    asked += 1;
  });
  const { signal, abort } = abortable();
  const waiting = Array.from({ length: 30 }, () => failure(boundedFetch({ url, ...bounds, signal })));
  while (asked < 30) await sleep(5);
  abort();
  expect((await Promise.all(waiting)).map(({ kind }) => kind)).toEqual(waiting.map(() => "aborted"));
  expect((await failure(boundedFetch({ url, ...bounds, signal }))).kind).toBe("aborted");
  await sleep(20);
  expect(asked).toBe(30);
});

test("a server that drips bytes is left after the total time", async () => {
  const { url } = await startHttpServer((_, response) => {
    const drip = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(drip));
  });
  const start = performance.now();
  const error = await failure(boundedFetch({ url, timeoutMs: 200, maxBytes: 1_000_000 }));
  expect(error.kind).toBe("timeout");
  expect(performance.now() - start).toBeLessThan(10_000);
});

test("an abort by the caller is distinguished from a timeout", async () => {
  const { url } = await startHttpServer(() => {});
  const { signal, abort } = abortable();
  const pending = failure(boundedFetch({ url, ...bounds, signal }));
  abort();
  expect((await pending).kind).toBe("aborted");
});

test("a body of very many pieces weighs no more than its bytes", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMegabytes = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const pieces = 100_000;
  const isWritten = Promise.withResolvers<Socket>();
  const { url } = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    socket.write("1\r\nx\r\n".repeat(pieces), () => isWritten.resolve(socket));
  });
  const before = heapMegabytes();
  const answer = boundedFetch({ url, timeoutMs: 20_000, maxBytes: pieces });
  const socket = await isWritten.promise;
  await sleep(300);
  expect(heapMegabytes() - before).toBeLessThan(5);
  socket.write("0\r\n\r\n");
  expect((await answer).text).toBe("x".repeat(pieces));
}, 30_000);

test("a body that is not UTF-8 is no text", async () => {
  const { url } = await startHttpServer((_, response) => response.end(Buffer.from([0x22, 0xff, 0xfe, 0x22])));
  expect((await failure(boundedFetch({ url, ...bounds }))).kind).toBe("not utf-8");
});

test("errors name the host and never the path, the query or the password of the URL", async () => {
  const urls = [
    "http://user:hunter2hunter2@127.0.0.1:9/v2/PATHKEYPATHKEY?token=QUERYKEY",
    "ftp://user:hunter2hunter2@127.0.0.1/PATHKEYPATHKEY?token=QUERYKEY",
    "not a url PATHKEYPATHKEY QUERYKEY hunter2hunter2",
  ];
  for (const url of urls) {
    const error = await failure(boundedFetch({ url, ...bounds }));
    const shown = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
    expect(shown).not.toMatch(/PATHKEY|QUERYKEY|hunter2/);
  }
});

test("credentials of a URL reach the server as a header", async () => {
  const seen: unknown[] = [];
  const { port } = await startHttpServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end("{}");
  });
  await boundedFetch({ url: `http://me:p%40ss@127.0.0.1:${port}/`, ...bounds });
  expect(seen).toEqual([`Basic ${Buffer.from("me:p@ss").toString("base64")}`]);
});

test("what HTTP cannot carry is reported without showing it, and nothing is sent", async () => {
  let asked = 0;
  const { url, port } = await startHttpServer((_, response) => {
    asked += 1;
    response.end();
  });
  const requests = [
    { url, headers: { apikey: "KEYKEY\r\nx-injected: 1" } },
    { url, headers: { apikey: "KEYKEY\u20ac" } },
    { url: `http://me:KEYKEY%zz@127.0.0.1:${port}/` },
  ];
  for (const request of requests) {
    const error = await failure(boundedFetch({ ...request, ...bounds }));
    expect(error.kind).toBe("bad url");
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("KEYKEY");
  }
  expect(asked).toBe(0);
});

test("a request says who asks and that it wants no remembered answer, unless its caller says otherwise", async () => {
  const seen: unknown[] = [];
  const { url } = await startHttpServer((request, response) => {
    const { accept, "user-agent": name, "cache-control": caching } = request.headers;
    seen.push([accept, name, caching]);
    response.end();
  });
  await boundedFetch({ url, ...bounds });
  await boundedFetch({ url, ...bounds, headers: { accept: "application/json" } });
  expect(seen).toEqual([
    ["*/*", "swapd", "no-cache"],
    ["application/json", "swapd", "no-cache"],
  ]);
});

test("a timeout that no timer can hold is refused instead of firing at once", async () => {
  for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31]) {
    await expect(boundedFetch({ url: "http://127.0.0.1:9", timeoutMs, maxBytes: 1 })).rejects.toThrow(RangeError);
  }
});
