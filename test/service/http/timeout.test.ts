import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../../../src/service/service.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { type Answer, type Client, createClient } from "../support/client.ts";
import { type LyingNode, startLyingNode } from "../support/lying-node.ts";
import { deployMarket, type Market, serviceOptions } from "../support/market.ts";
import { createRecordingLogger } from "../support/recording-logger.ts";
import { systemClock as clock } from "../support/system-clock.ts";

let chain: TestChain;
let market: Market;
let node: LyingNode;
let service: Service;
let client: Client;
let wake: (() => void) | undefined;
const directory = mkdtempSync(join(tmpdir(), "swapd-timeout-"));
const [PATH, BOTH] = ["/aggregator/quote", ["/aggregator/quote", "/aggregator/quote/transaction"]] as const;

/** Others use the machine too: so much later an answer may come. Far less than what the node takes. */
const SLACK_MS = 1_500;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
  node = await startLyingNode(() => chain.url);
  const options = serviceOptions(chain, market, { database: join(directory, "service.db") });
  const networks = options.networks.map((network) => ({ ...network, rpcUrls: [node.url] }));
  service = await startService({ ...options, networks }, { logger: createRecordingLogger(), clock });
  client = await createClient(service.url);
});

afterEach(() => {
  wake?.();
  wake = undefined;
});

afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await chain?.stop();
  rmSync(directory, { recursive: true });
});

function query(changes: Record<string, string> = {}): Record<string, string> {
  return {
    fromTokenAddress: market.usdc,
    toTokenAddress: market.weth,
    sellAmount: "3000000000",
    slippage: "0.005",
    gasless: "false",
    fromAddress: chain.deployer,
    ...changes,
  };
}

/** From now on the node answers nothing, until it is woken; and what was read before has grown too old for a quote. */
async function fallAsleep(): Promise<void> {
  const sleeping = new Promise<void>((resolve) => {
    wake = () => {
      resolve();
      node.before(async () => undefined);
    };
  });
  const stay = async () => {
    node.before(stay);
    await sleeping;
  };
  node.before(stay);
  // One alone may be late because the machine is slow.
  let inARow = 0;
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = await client.get(PATH, query({ timeoutMs: "50" }));
    inARow = status === 504 ? inARow + 1 : 0;
    if (inARow === 3) return;
    await sleep(50);
  }
  throw new Error("a service whose node sleeps goes on quoting");
}

async function timed(ask: Promise<Answer>) {
  const beganMs = performance.now();
  const answer = await ask;
  return { ...answer, tookMs: performance.now() - beganMs };
}

describe("timeoutMs", () => {
  test.each(["9", "30001", "1e3", "100.5", "-1", "", "0x64"])("is refused by name when it is %j", async (timeoutMs) => {
    const refused = {
      status: 400,
      body: { error: "PARAMETER_MALFORMED", message: expect.stringContaining("timeoutMs") },
    };
    expect(await client.get(PATH, query({ timeoutMs }))).toMatchObject(refused);
  });

  test("changes nothing about a quote that is there in time", async () => {
    for (const path of BOTH) {
      expect(await client.get(path, query({ timeoutMs: "30000" }))).toMatchObject({ status: 200 });
    }
  });

  test.each(BOTH)("is kept by %s when the node does not answer, by an error that says what to do", async (path) => {
    await fallAsleep();
    for (const timeoutMs of ["50", "300"]) {
      const { tookMs, ...answer } = await timed(client.get(path, query({ timeoutMs })));
      expect(answer).toMatchObject({ status: 504, body: { error: "QUOTE_TIMEOUT", code: 5004 } });
      expect(answer.body.message).toContain(`within ${timeoutMs} ms`);
      expect(tookMs).toBeGreaterThan(Number(timeoutMs) * 0.85);
      expect(tookMs).toBeLessThan(Number(timeoutMs) + SLACK_MS);
    }
    wake?.();
    expect(await client.get(path, query({ timeoutMs: "20000" }))).toMatchObject({ status: 200 });
  });

  test("that one client sends does not end what another waits for", async () => {
    await fallAsleep();
    const patient = client.get(PATH, query({ sellAmount: "7000000" }));
    const hasty = await client.get(PATH, query({ sellAmount: "7000000", timeoutMs: "40" }));
    expect(hasty).toMatchObject({ status: 504 });
    wake?.();
    expect(await patient).toMatchObject({ status: 200 });
  });
});

test("a client that hangs up leaves nothing behind, and others are answered", async () => {
  await fallAsleep();
  const request = httpRequest(`${service.url}${PATH}?${new URLSearchParams(query())}`).end();
  request.on("error", () => undefined);
  await sleep(50);
  request.destroy();
  wake?.();
  expect(await client.get(PATH, query())).toMatchObject({ status: 200 });
});
