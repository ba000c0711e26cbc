import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { answer } from "../../../src/service/http/answer.ts";
import { BODY, NETWORKS, start } from "../support/bare-server.ts";

function remaining(response: Response): string {
  return `${response.headers.get("RateLimit-Remaining")} of ${response.headers.get("RateLimit-Limit")}`;
}

test("a request that names no host is counted and answered like any other", async () => {
  const { port } = await start();
  const ask = async (): Promise<string> => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.write(`GET ${NETWORKS} HTTP/1.1\r\nConnection: close\r\n\r\n`);
    let text = "";
    for await (const piece of socket) text += String(piece);
    return text;
  };
  const answers: string[] = [];
  for (let count = 0; count < 4; count += 1) answers.push(await ask());
  expect(answers.map((text) => text.slice(9, 12))).toEqual(["200", "200", "200", "429"]);
  expect(answers[2]).toMatch(/ratelimit-remaining: 0/i);
  expect(answers[2]).toContain(JSON.stringify(BODY));
});

describe("limits", () => {
  test("are a key's own where it has one, else the service's; a revoked key is unknown", async () => {
    const { url } = await start({ keys: { partner: { requestsPerSecond: 9 }, guest: { requestsPerSecond: null } } });
    const ask = async (apikey: string) => await fetch(url + NETWORKS, { headers: { apikey } });
    expect(remaining(await ask("partner"))).toBe("8 of 9");
    expect(remaining(await ask("guest"))).toBe("4 of 5");
    expect(remaining(await ask("configured"))).toBe("4 of 5");
    const revoked = await ask("revoked");
    expect([revoked.status, remaining(revoked)]).toEqual([401, "2 of 3"]);
  });

  test("take a caller's address from trusted proxies only", async () => {
    const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
    const alone = await start();
    expect(remaining(await fetch(alone.url + NETWORKS, from("192.0.2.1")))).toBe("2 of 3");
    expect(remaining(await fetch(alone.url + NETWORKS, from("192.0.2.2")))).toBe("1 of 3");
    const behind = await start({ trustedProxies: ["127.0.0.0/8"] });
    expect(remaining(await fetch(behind.url + NETWORKS, from("192.0.2.1")))).toBe("2 of 3");
    expect(remaining(await fetch(behind.url + NETWORKS, from("192.0.2.2")))).toBe("2 of 3");
    // What a caller writes before the proxy's own entry is not believed.
    expect(remaining(await fetch(behind.url + NETWORKS, from("203.0.113.9, 192.0.2.2")))).toBe("1 of 3");
    // Some proxies write ports beside addresses: a caller sends from another one with each connection.
    expect(remaining(await fetch(behind.url + NETWORKS, from("192.0.2.2:51234")))).toBe("0 of 3");
    expect(remaining(await fetch(behind.url + NETWORKS, from("192.0.2.3:5, 127.0.0.2:1")))).toBe("2 of 3");
    expect(remaining(await fetch(behind.url + NETWORKS, from("192.0.2.3:6, 127.0.0.2:2")))).toBe("1 of 3");
    expect(remaining(await fetch(behind.url + NETWORKS, from("unknown")))).toBe("2 of 3");
    const elsewhere = await start({ trustedProxies: ["10.0.0.0/8"] });
    expect(remaining(await fetch(elsewhere.url + NETWORKS, from("192.0.2.1")))).toBe("2 of 3");
    expect(remaining(await fetch(elsewhere.url + NETWORKS, from("192.0.2.2")))).toBe("1 of 3");
  });
});

describe("pages of other origins", () => {
  const origin = "https://app.example";
  const preflight = { method: "OPTIONS", headers: { origin, "access-control-request-method": "GET" } };

  test("are reported nothing by default", async () => {
    const { url } = await start();
    for (const response of [
      await fetch(url + NETWORKS, { headers: { origin } }),
      await fetch(url + NETWORKS, preflight),
    ]) {
      const names = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
      expect(names).toEqual([]);
    }
  });

  test("may read answers and limits when they are named, others may not", async () => {
    const { url } = await start({ corsOrigins: [origin] });
    const allowed = await fetch(url + NETWORKS, { headers: { origin } });
    expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
    expect(allowed.headers.get("access-control-expose-headers")).toContain("RateLimit-Remaining");
    expect(allowed.headers.get("vary")).toBe("Origin");
    const asked = await fetch(url + NETWORKS, preflight);
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("apikey");
    expect(asked.headers.get("RateLimit-Remaining")).toBe("1");
    const other = await fetch(url + NETWORKS, { headers: { origin: "https://other.example" } });
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.headers.get("vary")).toBe("Origin");
    const open = await start({ corsOrigins: ["*"] });
    expect((await fetch(open.url + NETWORKS, { headers: { origin } })).headers.get("access-control-allow-origin")).toBe(
      "*",
    );
  });
});

/** What a socket gets until the other side ends it. */
async function talk(port: number, write: (send: (text: string) => void) => Promise<void>): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await write((text) => socket.write(text));
  await closed;
  return Buffer.concat(chunks).toString();
}

describe("a slow request", () => {
  test("of headers that drip in is cut, and told why", async () => {
    const { port } = await start({ requestTimeoutMs: 200 });
    const got = await talk(port, async (send) => {
      send("GET /health HTTP/1.1\r\nhost: a\r\n");
      for (let drop = 0; drop < 20; drop += 1) {
        await sleep(50);
        send(`x-${drop}: 1\r\n`);
      }
    });
    expect(got).toMatch(/^HTTP\/1\.1 408 /);
    expect(got).toContain('"REQUEST_TOO_SLOW"');
  });

  test("of a body that drips in is cut, and never reaches its endpoint", async () => {
    let calls = 0;
    const { port } = await start({ requestTimeoutMs: 200 }, async () => {
      calls += 1;
      return answer({});
    });
    const got = await talk(port, async (send) => {
      send(
        "POST /token-manager/tokens HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
      );
      for (let drop = 0; drop < 20; drop += 1) {
        await sleep(50);
        send(" ");
      }
    });
    expect(got).toMatch(/408|^$/);
    expect(calls).toBe(0);
  });
});

describe("load and stop", () => {
  test("more requests than can be in work are refused at once, with limits and Retry-After", async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { url, traffic } = await start({ maxInFlight: 1 }, async () => {
      await gate;
      return answer(BODY);
    });
    const first = fetch(url + NETWORKS);
    while (traffic.inFlight() < 1) await sleep(5);
    const second = await fetch(url + NETWORKS);
    expect(second.status).toBe(503);
    expect(await second.json()).toMatchObject({ error: "BUSY" });
    expect(second.headers.get("Retry-After")).toBe("1");
    expect(remaining(second)).toBe("1 of 3");
    release();
    expect((await first).status).toBe(200);
    while (traffic.inFlight() > 0) await sleep(5);
  });

  test("a caller without a key holds an eighth of the places, one with a key a half, and a supervisor has its own", async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const limits = { keyless: 50, keyed: 50 };
    const { url, traffic } = await start({ limits, maxInFlight: 16, trustedProxies: ["127.0.0.0/8"] }, async () => {
      await gate;
      return answer(BODY);
    });
    const ask = (address: string, key: Record<string, string> = {}, path = NETWORKS) =>
      fetch(url + path, { headers: { "x-forwarded-for": address, ...key } });
    const asked: Promise<Response>[] = [];
    const holds = async (count: number, one: () => Promise<Response>): Promise<void> => {
      const before = traffic.inFlight();
      for (let each = 0; each < count; each += 1) asked.push(one());
      while (traffic.inFlight() < before + count) await sleep(5);
      expect((await one()).status).toBe(503);
    };
    await holds(2, () => ask("192.0.2.1"));
    await holds(2, () => ask("192.0.2.2"));
    await holds(8, () => ask("192.0.2.1", { apikey: "configured" }));
    asked.push(ask("192.0.2.1", {}, "/health"), ask("192.0.2.3"));
    while (traffic.inFlight() < 14) await sleep(5);
    release();
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
    while (traffic.inFlight() > 0) await sleep(5);
    expect((await ask("192.0.2.1")).status).toBe(200);
  });

  test("what we cannot read ourselves is our own failure, not the caller's", async () => {
    const { url } = await start({}, async () => answer(JSON.parse("{")));
    const response = await fetch(url + NETWORKS);
    expect([response.status, await response.json()]).toMatchObject([500, { error: "INTERNAL" }]);
  });

  test("a caller that leaves before its answer does not stay in work for ever", async () => {
    const { url, traffic } = await start({}, async () => {
      await sleep(200);
      return answer(BODY);
    });
    const leaving = fetch(url + NETWORKS, { signal: AbortSignal.timeout(50) });
    await expect(leaving).rejects.toThrow();
    await sleep(300);
    expect(traffic.inFlight()).toBe(0);
  });

  test("a stop finishes what is in work, refuses what comes on open connections, and cuts what takes too long", async () => {
    const { url, port, server, traffic } = await start({}, async () => {
      await sleep(300);
      return answer(BODY);
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const over = async (): Promise<{ status: number; text: string }> => {
      const asked = httpRequest(url + NETWORKS, { agent }).end();
      const [response] = await once(asked, "response");
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
    };
    const inWork = fetch(url + NETWORKS);
    while (traffic.inFlight() < 1) await sleep(5);
    const pipelined = talk(port, async (send) => {
      send(`GET ${NETWORKS} HTTP/1.1\r\nhost: a\r\n\r\n`);
      await sleep(50);
      send(`GET ${NETWORKS} HTTP/1.1\r\nhost: a\r\n\r\n`);
    });
    while (traffic.inFlight() < 2) await sleep(5);
    const stopped = traffic.drain(server, 5_000);
    expect((await inWork).status).toBe(200);
    const got = await pipelined;
    expect(got).toMatch(/^HTTP\/1\.1 200 /);
    if (got.includes(" 503 ")) expect(got).toContain('"STOPPING"');
    await stopped;
    await expect(over()).rejects.toThrow("ECONNREFUSED");
    agent.destroy();
  });

  test("a stop does not wait for ever", async () => {
    const { url, server, traffic } = await start({}, async () => {
      await sleep(3_000);
      return answer(BODY);
    });
    const inWork = fetch(url + NETWORKS);
    inWork.catch(() => undefined);
    while (traffic.inFlight() < 1) await sleep(5);
    const beganMs = performance.now();
    await traffic.drain(server, 100);
    expect(performance.now() - beganMs).toBeLessThan(1_500);
    await expect(inWork).rejects.toThrow();
  });
});

test("a caller hears of a node that is silent before his connection is cut off; an order and quotes wait for their own answers", async () => {
  let letGo = (): void => undefined;
  const silent = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const limits = { keyless: 10, keyed: 10 };
  const { url } = await start({ answerWithinMs: 50, limits }, async () => {
    await silent;
    return answer(BODY);
  });
  const late = await fetch(url + NETWORKS);
  expect([late.status, await late.json()]).toMatchObject([503, { error: "CHAIN_UNREACHABLE" }]);
  const headers = { "content-type": "application/json" };
  const order = fetch(`${url}/user-manager/execute-swap`, { method: "POST", headers, body: "{}" });
  // A request may give them longer than a node is waited for.
  const quotes = ["/aggregator/quote", "/aggregator/quote/transaction"].map((path) => fetch(url + path));
  await sleep(150);
  letGo();
  expect([(await order).status, ...(await Promise.all(quotes)).map(({ status }) => status)]).toEqual([200, 200, 200]);
});
