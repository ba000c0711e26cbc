import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRuntime } from "../../src/app/runtime.ts";
import { startEmbeddedService } from "../../src/app/start-embedded-service.ts";
import { loaded, MAIN } from "../config/project.ts";
import { startHttpServer } from "../support/http-server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const RELAYER_KEYS = { base: `0x${"11".repeat(32)}`, ethereum: `0x${"22".repeat(32)}` };

/** Nothing listens where its node should be. */
function configurationOf(name: "base" | "ethereum", serve: string, more = "") {
  const main = MAIN.replace("name: base", `name: ${name}`)
    .replace(
      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      name === "base" ? "$&" : "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    )
    .replace(
      "0x4200000000000000000000000000000000000006",
      name === "base" ? "$&" : "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    );
  const relayer = `relayer: { privateKey: { env: KEY_${name} } }`;
  return loaded(
    { "main.yaml": `${main}serve: { ${relayer}, database: ${name}-service.db, ${serve} }\n${more}` },
    {},
    { allowRawKey: true },
  );
}

it("serves the network of each configuration, each with its relayer, by the first one's address and database", async () => {
  const logFile = join(temporaryDirectory(), "log");
  const env = { RPC_1: "http://127.0.0.1:9", KEY_base: RELAYER_KEYS.base, KEY_ethereum: RELAYER_KEYS.ethereum };
  const runtime = createRuntime({ level: "warn", env, logFile });
  const base = configurationOf("base", 'listen: "127.0.0.1:0"');
  const ethereum = configurationOf("ethereum", 'listen: "127.0.0.1:1"', "log: { level: debug }\n");
  const service = await startEmbeddedService(base, runtime, [ethereum]);
  try {
    const networks = await (await fetch(`${service.url}/token-manager/networks`)).json();
    expect(networks).toMatchObject([
      { name: "base", chainId: 8_453 },
      { name: "ethereum", chainId: 1 },
    ]);
    expect((await fetch(`${service.url}/health`)).status).toBe(503);
  } finally {
    await service.stop();
  }
  await expect.poll(() => readFileSync(logFile, "utf8")).toContain("the first file's settings hold for all networks");
  const reported = readFileSync(logFile, "utf8")
    .split("\n")
    .find((line) => line.includes("the first file's settings"));
  expect(JSON.parse(reported ?? "{}")).toMatchObject({ settings: ["serve.listen", "serve.database", "log.level"] });
  await expect(startEmbeddedService(base, runtime, [base])).rejects.toThrow("two networks are called base");
});

it("asks the second endpoint where the first one does not answer", async () => {
  let requests = 0;
  const second = await startHttpServer((_request, response) => {
    requests += 1;
    response.writeHead(503).end();
  });
  const main = MAIN.replace("[{ env: RPC_1 }]", "[{ env: RPC_1 }, { env: RPC_2 }]");
  const env = { RPC_1: "http://127.0.0.1:9", RPC_2: second.url };
  const runtime = createRuntime({ level: "error", env, logFile: join(temporaryDirectory(), "log") });
  const configuration = loaded({ "main.yaml": `${main}serve: { listen: "127.0.0.1:0" }\n` }, env);
  const service = await startEmbeddedService(configuration, runtime);
  await service.stop();
  expect(requests).toBeGreaterThan(0);
});

it("does not start where no contract of ours can be, and says so instead of asking for one", async () => {
  const main = MAIN.replace("name: base", "name: zksync")
    .replace("mode: live", "mode: dry-run")
    .replace(/, settlement: "0x1{40}"/, "")
    .replaceAll(/address: "0x(?:83|42)\w+"/g, "address: preset");
  const env = { RPC_1: "http://127.0.0.1:9" };
  const runtime = createRuntime({ level: "error", env });
  const started = startEmbeddedService(loaded({ "main.yaml": main }, env), runtime);
  await expect(started).rejects.toThrow(/^zksync is unsupported by .*; for quotes alone: swapd serve --network zksync/);
});
