import { expect, test } from "vitest";
import { checkMachine } from "../../src/app/check-machine.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { startEmbeddedService } from "../../src/app/start-embedded-service.ts";
import { loaded, MAIN, WALLET } from "../config/project.ts";

const ALERTS = `alerts:
  channels: { phone: { kind: ntfy, topic: { env: NTFY_TOPIC }, token: { env: NTFY_TOKEN } } }
  heartbeat: { url: { env: PING_URL } }
`;
const SERVED = "serve: { apiKeys: [{ env: SERVE_KEY }], relayer: { privateKey: { env: RELAYER_KEY } } }\n";
const GOOD = {
  NTFY_TOPIC: "swapd-of-mine",
  NTFY_TOKEN: "tk_abcdefghijklmnopqrstuvwxyz123",
  PING_URL: "https://watch.example/ping",
  SERVE_KEY: "a-key-of-ours-of-some-length",
  RELAYER_KEY: `0x${"7".repeat(64)}`,
};

async function foundWith(env: Readonly<Record<string, string>>) {
  const configuration = loaded({ "main.yaml": `${MAIN}${ALERTS}${SERVED}` }, GOOD, { allowRawKey: true });
  const findings = await checkMachine(configuration, createRuntime({ level: "silent", env }));
  const problems = findings.filter(({ what, whatToDo }) => whatToDo !== undefined && what !== "wallet main");
  return problems.map(({ what, found }) => [what, found]);
}

test("a secret that a start needs and that is not there, or is nothing that it could be, is a problem of a check", async () => {
  expect(await foundWith(GOOD)).toEqual([]);
  const missing = (name: string) => expect.stringContaining(`the environment variable ${name} is not set`);
  expect(await foundWith({})).toEqual([
    ["channel phone", missing("NTFY_TOPIC")],
    ["alerts.heartbeat.url", missing("PING_URL")],
    ["serve.apiKeys", missing("SERVE_KEY")],
    ["serve.relayer", missing("RELAYER_KEY")],
  ]);
  const wrong = { ...GOOD, PING_URL: "watch.example", NTFY_TOPIC: "no topic", RELAYER_KEY: "0x12" };
  const found = await foundWith(wrong);
  expect(found.map(([what]) => what)).toEqual(["channel phone", "alerts.heartbeat.url", "serve.relayer"]);
  expect(JSON.stringify(found)).not.toContain("watch.example");
});

test("a relayer whose account is a wallet of the file is a problem of a check, and no service starts with it", async () => {
  const key = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
  const said = `serve.relayer is ${WALLET}, which is the wallet main`;
  expect(await foundWith({ ...GOOD, RELAYER_KEY: key })).toEqual([["serve.relayer", expect.stringContaining(said)]]);
  const elsewhere = `serve: { relayer: { signer: { url: "http://127.0.0.1:9", address: "${WALLET}" } } }\n`;
  const configuration = loaded({ "main.yaml": `${MAIN}${elsewhere}` });
  const runtime = createRuntime({ level: "silent", env: { RPC_1: "http://127.0.0.1:9" } });
  expect((await checkMachine(configuration, runtime)).map(({ found }) => found)).toContainEqual(
    expect.stringContaining(said),
  );
  await expect(startEmbeddedService(configuration, runtime)).rejects.toThrow(said);
});
