import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Follower, follow } from "../../../../src/app/http/api/event-stream.ts";
import { hashOfSecret } from "../../../../src/app/http/api/secrets.ts";
import type { ListedTransition } from "../../../../src/ports/listing.ts";
import { listen } from "../../../support/api-events.ts";
import { type ApiLife, startApiLife } from "../../../support/api-life.ts";

const SHORT = { heartbeatMs: 100, shortestRoundMs: 1, drainWithinMs: 300 };

/** The daemon writes something that everybody is told of. */
async function pause(life: ApiLife, reason: string): Promise<void> {
  const row = { scope: "global", mode: "paused", setBy: "ops", reason, atMs: 1 } as const;
  await life.sources.store.commit([
    { question: { kind: "nothing" }, decide: () => ({ changes: [{ kind: "mode", row }], atMs: 1, value: undefined }) },
  ]);
}

it("tells nothing more once its token is revoked, and ends", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { heard, ended } = listen(life);
  await expect.poll(() => heard.length).toBe(2);
  await life.sources.access.revoke("t-read", life.outside.clock.nowMs());
  await pause(life, "for others' ears");
  await ended;
  expect(heard.map(({ event }) => event)).toEqual(["alerts", "modes"]);
}, 10_000);

it("tells nothing more once its login is over, and ends", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { clock } = life.outside;
  const token = { name: "short", scope: "read", hash: hashOfSecret(`swapd_${"s".repeat(43)}`), madeBy: "ops" } as const;
  await life.sources.access.addToken({ ...token, untilMs: clock.nowMs() + 60_000 }, clock.nowMs());
  const { heard, ended } = listen(life, undefined, { authorization: `Bearer swapd_${"s".repeat(43)}` });
  await expect.poll(() => heard.length).toBe(2);
  await clock.advance(59_000);
  await pause(life, "in time");
  await expect.poll(() => heard.length).toBe(3);
  await clock.advance(1_000);
  await pause(life, "too late");
  await ended;
  expect(heard).toHaveLength(3);
}, 10_000);

/** Follows endless moves over a real connection, as a client that takes what it is told to. */
async function followEndless(
  life: ApiLife,
  { takes, isAllowed = async () => true }: { readonly takes: boolean } & Partial<Pick<Follower, "isAllowed">>,
) {
  const row = (number: number): ListedTransition => ({
    ...{ number, run: "run_1", strategy: "weekly", subject: "run", id: "run_1", from: "due", to: "deciding" },
    ...{ reason: null, detail: "x".repeat(10_000), atMs: number },
  });
  const listing = {
    ...life.sources.listing,
    transitionsAfter: async (after: number, limit: number) =>
      Array.from({ length: limit }, (_, place) => row(after + 1 + place)),
  };
  const kept = { most: 0, chunks: 0 };
  let over: Promise<void> | undefined;
  const server = createServer((request, stream: ServerResponse) => {
    const gone = new AbortController();
    request.on("close", () => gone.abort());
    stream.writeHead(200);
    const write = stream.write.bind(stream);
    stream.write = ((text: string) => {
      const more = write(text);
      kept.most = Math.max(kept.most, stream.writableLength);
      kept.chunks += 1;
      return more;
    }) as typeof stream.write;
    over = follow({ ...life.sources, listing }, { stream, lastId: "0.0", signal: gone.signal, isAllowed }, SHORT);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.on("error", () => undefined);
  client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  if (takes) client.resume();
  await expect.poll(() => over !== undefined).toBe(true);
  return { kept, client, over: over as unknown as Promise<void> };
}

it("cuts off who takes nothing, and keeps no more for him than a round meanwhile", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { kept, over } = await followEndless(life, { takes: false });
  const beganMs = performance.now();
  await over;
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  // A round of a hundred moves of ten thousand letters, and what frames them.
  expect(kept.most).toBeLessThan(2_500_000);
}, 20_000);

it("goes on for who takes what comes, for longer than one who takes nothing is waited for", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { kept, client, over } = await followEndless(life, { takes: true });
  await new Promise((resolve) => setTimeout(resolve, 4 * SHORT.drainWithinMs));
  expect(client.destroyed).toBe(false);
  expect(kept.chunks).toBeGreaterThan(10);
  client.destroy();
  await over;
}, 20_000);

it("sends its line in time, and ends in time, where commits wake it without news", async () => {
  const life = await startApiLife({ seconds: 1 });
  let isAllowed = true;
  const writtenMs: number[] = [];
  const write = () => writtenMs.push(performance.now()) > 0;
  const stream = { write, destroy: () => undefined } as unknown as ServerResponse;
  const { signal } = new AbortController();
  const times = { heartbeatMs: 1_000, shortestRoundMs: 1, drainWithinMs: 300 };
  const over = follow(life.sources, { stream, lastId: undefined, signal, isAllowed: async () => isAllowed }, times);
  await expect.poll(() => writtenMs.length).toBe(1);
  setTimeout(() => {
    isAllowed = false;
    void life.sources.store.commit([
      { question: { kind: "nothing" }, decide: () => ({ changes: [], atMs: 1, value: undefined }) },
    ]);
  }, 900);
  await over;
  expect(performance.now() - (writtenMs.at(-1) ?? 0)).toBeLessThan(1_600);
}, 10_000);

it("ends also where nothing happens, when its token was revoked beside the daemon", async () => {
  const life = await startApiLife({ seconds: 1 });
  let isAllowed = true;
  const stream = { write: () => true, destroy: () => undefined } as unknown as ServerResponse;
  const signal = new AbortController().signal;
  const over = follow(life.sources, { stream, lastId: undefined, signal, isAllowed: async () => isAllowed }, SHORT);
  isAllowed = false;
  const beganMs = performance.now();
  await over;
  expect(performance.now() - beganMs).toBeLessThan(5_000);
}, 10_000);
