import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readBody } from "../support/http-server.ts";
import { endWhatIsLeft, makeFolder, type Started, start, until } from "./support/swapd.ts";

const WITHIN_MS = 120_000;
/** The daemon asks an endpoint after the others once its newest block is two minutes old. */
const UNTIL_OLD_MS = 240_000;

const worldSchema = z.object({
  rpcUrl: z.string(),
  wallet: z.object({ address: z.string(), privateKey: z.string() }),
});

const folder = makeFolder();
const closing: (() => void)[] = [];
let world: z.output<typeof worldSchema>;

beforeAll(async () => {
  const args = ["sandbox", "--no-daemon", "--no-market", "--port", "0", "--json", "--block-time", "0.5"];
  const sandbox = start(folder.path, args);
  world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
}, WITHIN_MS);

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

afterAll(async () => {
  await endWhatIsLeft();
  folder.remove();
});

/** A daemon with its service embedded, as shipped, which trades every two seconds. */
function startOver(name: string, first: string): { daemon: Started; fills(): number } {
  const shipped = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8").split("\nserve:")[0] ?? "";
  const own = shipped
    .replace("{ env: SWAPD_SANDBOX_RPC }", "{ env: FIRST_RPC }, { env: SECOND_RPC }")
    .replace("SWAPD_SANDBOX_WALLET_KEY", "OWN_KEY")
    .replace("strategies: ../strategies/sandbox", `strategies: ${name}`)
    .replace("../.swapd/sandbox/swapd.db", `${name}.db`)
    .replace("127.0.0.1:9464", "127.0.0.1:0");
  const rest = [
    `identity: identity-${name}`,
    "timing: { quoteLifetime: 20s, permitLifetime: 20s, pollInterval: 200ms }",
    `serve: { listen: "127.0.0.1:0", database: ${name}-service.db }`,
  ];
  const config = join(folder.path, "config");
  const file = join(config, `${name}.yaml`);
  writeFileSync(file, `${own}\n${rest.join("\n")}\n`);
  const strategy = ["kind: dca", "wallet: main", 'sell: "100 USDC"', "buy: WETH", "schedule: { every: 2s }"];
  mkdirSync(join(config, name));
  writeFileSync(join(config, name, "own.yaml"), [...strategy, "execution: { gasless: never }", ""].join("\n"));
  // As `init` leaves it: the wallet may have traded by another database before.
  const wallet = world.wallet.address.toLowerCase();
  mkdirSync(join(config, `identity-${name}`));
  const marker = JSON.stringify({ version: 1, chainId: 31_337, wallet });
  writeFileSync(join(config, `identity-${name}`, `31337-${wallet}.json`), marker);
  const environment = { FIRST_RPC: first, SECOND_RPC: world.rpcUrl, OWN_KEY: world.wallet.privateKey };
  const daemon = start(folder.path, ["start", "--config", file], environment);
  const fills = (): number => {
    const db = new Database(join(config, `${name}.db`), { readonly: true });
    const count = db.prepare<[], number>("SELECT count(*) FROM swaps WHERE state IN ('confirmed', 'final')").pluck();
    const number = count.get() ?? 0;
    db.close();
    return number;
  };
  return { daemon, fills };
}

/** A node's front that can stop at its newest block; it goes on answering for that one. */
async function startStandingNode(): Promise<{ url: string; stand(): Promise<void> }> {
  let block: string | undefined;
  const ask = async (body: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    return await (await fetch(world.rpcUrl, { method: "POST", headers, body })).text();
  };
  const server = createServer((request, response) => {
    const reported = (text: string): string => {
      if (block === undefined) return text;
      return text.replace(/"(latest|pending|safe|finalized)"/g, `"${block}"`);
    };
    readBody(request)
      .then((body) => ask(reported(body)))
      .then((text) => response.writeHead(200, { "content-type": "application/json" }).end(text))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stand: async () => {
      const answer = JSON.parse(await ask('{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'));
      block = answer.result;
    },
  };
}

test(
  "with the service embedded and the first endpoint gone, the daemon trades by the second one",
  async () => {
    const { daemon, fills } = startOver("gone", "http://127.0.0.1:9");
    const around = { process: daemon, withinMs: WITHIN_MS };
    await until("it is up", around, () => daemon.output().includes("the daemon is up"));
    await until("it trades", around, () => fills() > 1);
    daemon.process.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(0);
  },
  WITHIN_MS,
);

test(
  "with the service embedded and a first endpoint that stands still, the daemon trades on by the second one",
  async () => {
    const node = await startStandingNode();
    const { daemon, fills } = startOver("standing", node.url);
    const around = { process: daemon, withinMs: UNTIL_OLD_MS };
    await until("it is up", around, () => daemon.output().includes("the daemon is up"));
    await until("it trades", around, () => fills() > 1);
    await node.stand();
    const before = fills();
    await until("it trades on", around, () => fills() > before + 2);
    daemon.process.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(0);
  },
  2 * UNTIL_OLD_MS,
);
