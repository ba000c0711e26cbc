import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../src/app/exit-codes.ts";
import { addressOnly } from "../../src/app/open-secrets.ts";
import { type Daemon, startDaemon } from "../../src/app/start-daemon.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { createRedactor } from "../../src/net/redact.ts";
import { Secret } from "../../src/net/secret.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { loaded, MAIN, WALLET } from "../config/project.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { silentLogger } from "../support/silent-logger.ts";

const BASE = 8453;

function started(configuration: Configuration, serviceUrl: string, rpcUrl: string): Promise<Daemon> {
  return startDaemon(configuration, serviceUrl, {
    logger: silentLogger(),
    redactor: createRedactor(),
    env: {},
    secrets: {
      open: () => new Secret("none"),
      rpcUrls: () => [new Secret(rpcUrl)],
      submitUrls: () => [],
      signer: async () => addressOnly(toAddress(WALLET)),
      privateKey: () => undefined,
    },
  });
}

test("a start looks at its endpoints, its wallets and its service by itself, and reports what is wrong with each", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  await anvil.rpc.call("anvil_setCode", [WALLET, `0xef0100${"d".repeat(40)}`]);
  const node = await startRpcProxy(anvil.url);
  for (const method of ["eth_simulateV1", "debug_traceCall"]) {
    node.fault(method, { kind: "error", code: -32601, message: "Method not found" });
  }
  const service = await startHttpServer((_request, response) => {
    response.writeHead(429, { "retry-after": "3600", "content-type": "application/json" }).end("{}");
  });
  const configuration = loaded(
    { "main.yaml": `${MAIN.replace("url: embedded", `url: "${service.url}"`)}http: { listen: 127.0.0.1:0 }\n` },
    { RPC_1: node.url },
  );
  const daemon = await started(configuration, service.url, node.url);
  let isUp = true;
  onTestFinished(async () => void (isUp && (await daemon.stop())));
  const db = openDatabase({ file: configuration.database, readonly: true });
  onTestFinished(() => void db.close());
  const open = db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL").pluck();
  await expect
    .poll(() => open.all(), { timeout: 20_000 })
    .toEqual(expect.arrayContaining(["ACCOUNT_HALTED", "ENDPOINTS_UNABLE", "SERVICE_HOLDS_US_BACK"]));
  const reported = db.prepare("SELECT text FROM alerts WHERE code = 'ENDPOINTS_UNABLE'").pluck().all();
  expect(reported).toEqual([expect.stringContaining("add an endpoint with eth_simulateV1 or debug_traceCall")]);
  const ready = await fetch(`${daemon.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { ready: false, node: { ready: false } }]);
  expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  await daemon.stop();
  isUp = false;
  const again = await started(configuration, service.url, node.url);
  const readiness = async (): Promise<unknown> => (await fetch(`${again.url}/readyz`)).json();
  const held = { ready: false, reason: expect.stringContaining("asked for no calls until") };
  await expect.poll(readiness, { timeout: 20_000 }).toMatchObject({ service: held });
  await again.stop();
  const other = await startHttpServer((_request, response) => void response.writeHead(503).end());
  // From when the wallet's key was elsewhere, and from when commands came by chat.
  const write = openDatabase({ file: configuration.database });
  write.exec(`INSERT INTO alerts (id, severity, code, subject, text, raised_at_ms)
    VALUES ('away', 'critical', 'SIGNER_AWAY', 'signer of main', 'nothing is signed for main', 1),
      ('unheard', 'warning', 'CHAT_UNHEARD', 'commands by chat', 'commands by chat are not heard', 1)`);
  write.close();
  const next = await started(configuration, other.url, node.url);
  onTestFinished(() => next.stop());
  expect(open.all(), "of a service that is configured no more").not.toContain("SERVICE_HOLDS_US_BACK");
  expect(open.all(), "of a chat that is configured no more").not.toContain("CHAT_UNHEARD");
  expect(open.all(), "of a signer that is configured no more").not.toContain("SIGNER_AWAY");
});

test("what a service asks for ends the daemon where it cannot be written down, though nobody waits for it", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  let status = 503;
  const service = await startHttpServer((_request, response) => {
    response.writeHead(status, { "retry-after": "3600" }).end();
  });
  const configuration = loaded(
    { "main.yaml": `${MAIN.replace("url: embedded", `url: "${service.url}"`)}http: { listen: 127.0.0.1:0 }\n` },
    { RPC_1: anvil.url },
  );
  await (await started(configuration, service.url, anvil.url)).stop();
  const db = openDatabase({ file: configuration.database });
  onTestFinished(() => void db.close());
  db.exec(`CREATE TRIGGER full BEFORE INSERT ON alerts WHEN new.code = 'SERVICE_HOLDS_US_BACK'
    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`);
  status = 429;
  const daemon = await started(configuration, service.url, anvil.url);
  onTestFinished(() => daemon.stop());
  expect(await daemon.failed).toMatchObject({ message: expect.stringContaining("the disk is full") });
});

test("a daemon whose lock is taken away ends, and says that it signs nothing any more", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const service = await startHttpServer((_request, response) => void response.writeHead(503).end());
  const configuration = loaded(
    { "main.yaml": `${MAIN.replace("url: embedded", `url: "${service.url}"`)}http: { listen: 127.0.0.1:0 }\n` },
    { RPC_1: anvil.url },
  );
  const daemon = await started(configuration, service.url, anvil.url);
  onTestFinished(() => daemon.stop());
  rmSync(`${configuration.database}.lock.db`);
  expect(await daemon.failed).toMatchObject({
    exitCode: EXIT.tryAgain,
    message: expect.stringContaining("nothing is signed any more"),
  });
});

test("a stop that cannot write its last row ends all else, and says what kept it", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const service = await startHttpServer((_request, response) => void response.writeHead(503).end());
  const configuration = loaded(
    { "main.yaml": `${MAIN.replace("url: embedded", `url: "${service.url}"`)}http: { listen: 127.0.0.1:0 }\n` },
    { RPC_1: anvil.url },
  );
  const daemon = await started(configuration, service.url, anvil.url);
  const db = openDatabase({ file: configuration.database });
  onTestFinished(() => void db.close());
  // As a full disk would, and at once.
  db.exec("CREATE TRIGGER full BEFORE INSERT ON daemon_events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  await expect(daemon.stop()).rejects.toThrow("the disk is full");
  await expect(fetch(`${daemon.url}/healthz`)).rejects.toThrow("fetch failed");
});
