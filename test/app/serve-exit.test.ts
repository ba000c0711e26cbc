import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { makeFolder, run, start } from "../e2e/support/swapd.ts";
import { startBareAnvil } from "../support/anvil.ts";
import { startHttpServer } from "../support/http-server.ts";

/** A node that is away is no reason to end: only what stands before it is looked at here. */
const AWAY = ["serve", "--network", "ethereum", "--rpc", "http://127.0.0.1:1"] as const;

it("a service that may start later ends with 75: its port is in use, or another one is at work on its database", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const { url } = await startHttpServer(async (_request, response) => void response.end());
  const taken = await run(folder.path, [...AWAY, "--listen", new URL(url).host]);
  const words = `the service cannot start: --listen: another process listens on ${new URL(url).host}: stop that one`;
  expect(taken).toMatchObject({ code: 75, err: expect.stringContaining(words) });

  const at = async (): Promise<string[]> => [...AWAY, "--listen", `127.0.0.1:${await claimPort(0)}`];
  const first = start(folder.path, await at());
  await vi.waitFor(() => expect(first.output()).toContain("the service is up"), { timeout: 30_000, interval: 50 });
  expect(await run(folder.path, await at())).toMatchObject({ code: 75, err: expect.stringContaining("cannot start") });
  first.process.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
});

it("a service whose files a person must change ends with 78", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const database = join(folder.path, "no-database.db");
  writeFileSync(database, "this is no database, whatever its name says, and long enough to be looked at\n".repeat(20));
  expect(await run(folder.path, [...AWAY, "--listen", "127.0.0.1:0", "--database", database])).toMatchObject({
    code: 78,
    err: expect.stringContaining("cannot start"),
  });
  mkdirSync(join(folder.path, "folder.db"));
  const listen = `127.0.0.1:${await claimPort(0)}`;
  const opened = await run(folder.path, [...AWAY, "--listen", listen, "--database", join(folder.path, "folder.db")]);
  expect(opened).toMatchObject({ code: 78, err: expect.stringContaining("cannot start") });
  const nowhere = join(folder.path, "not-mounted");
  const missing = await run(folder.path, [...AWAY, "--listen", listen, "--database", join(nowhere, "service.db")]);
  expect(missing).toMatchObject({ code: 78, err: expect.stringContaining(`the folder ${nowhere} does not exist`) });
});

it("a service whose contracts are not there ends with 78, once the node has said so for a while", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const node = await startBareAnvil({ chainId: 8_453 });
  onTestFinished(node.stop);
  const settlement = `0x${"11".repeat(20)}`;
  const args = ["serve", "--network", "base", "--rpc", node.rpcUrl, "--settlement", settlement];
  const ended = await run(folder.path, [...args, "--listen", "127.0.0.1:0"]);
  expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("has no executor()") });
});
