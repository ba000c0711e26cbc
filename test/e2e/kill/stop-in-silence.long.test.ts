import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startDaemon, startKillWorld } from "./kill-world.ts";
import { after } from "./processes.ts";

const ASKS_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 6_000;

/** Takes every connection and never answers. @returns where it listens, and when it was first asked */
async function startSilentServer(): Promise<{ url: string; asked: Promise<unknown> }> {
  const server = createServer((socket) => void socket.on("error", () => undefined).resume());
  const asked = new Promise((resolve) => {
    server.once("connection", (socket) => socket.once("data", resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

it("stops in good time though the service holds every question open", { timeout: 120_000 }, async () => {
  const world = await startKillWorld("swapd", { tracks: 1, lifeMinutes: 3 });
  onTestFinished(() => world.stop(false));
  const [track] = world.tracks;
  if (track === undefined) throw new Error("the world has no daemon");
  const configuration = readFileSync(track.configuration, "utf8");
  const service = await startSilentServer();
  const silent = configuration
    .replace(`url: "${world.serviceUrl}"`, `url: "${service.url}"`)
    .replace("requestTimeout: 2s", "requestTimeout: 10s");
  writeFileSync(track.configuration, silent);
  const daemon = startDaemon(track);
  // Nothing hangs yet when the daemon is up: the first question is what it has to let go of.
  const first = await Promise.race([service.asked, daemon.ended, after(ASKS_WITHIN_MS)]);
  expect(first, "the daemon asked the service nothing").toBeInstanceOf(Buffer);
  const askedMs = performance.now();
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - askedMs).toBeLessThan(STOPS_WITHIN_MS);
});
