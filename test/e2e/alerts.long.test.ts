import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { isSigned, type Received, startReceiver } from "../support/alert-receiver.ts";
import { readDryExample } from "../support/example-file.ts";
import { makeFolder, run, type Started, start } from "./support/swapd.ts";

const SECRET = "canary-alert-secret-0123456789";
const PATH = "/hooks/canary-alert-path-0123?token=canary-alert-query-0123";
const LONG = { timeout: 40_000, interval: 100 };

const change = (text: string, from: string | RegExp, to: string): string => {
  expect(text).toMatch(from);
  return text.replace(from, to);
};

/** A receiver that refuses each alert once, takes it then, and can be told to hang. */
async function startMoodyReceiver() {
  const mood = { hangs: false, refusedOnce: new Set<string>(), held: [] as ServerResponse[] };
  const receiver = await startReceiver((response) => {
    const id = String(receiver.received.at(-1)?.headers["swapd-alert-id"]);
    if (mood.hangs) mood.held.push(response);
    else response.writeHead(mood.refusedOnce.has(id) ? 200 : 500).end();
    mood.refusedOnce.add(id);
  });
  return { ...receiver, mood };
}

const codesOf = (received: readonly Received[]): string[] => received.map(({ body }) => JSON.parse(body).code);

it("alerts outlive a kill, a receiver that refuses and one that hangs, and show no secret anywhere", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  // Sweeps and slices name lots that a policy of one dollar refuses at load, and here nothing is to be refused there.
  for (const name of ["gas-tank", "path-of-ether", "slow-dai-exit", "spare-ether"]) {
    rmSync(join(folder.path, "strategies", "sandbox", `${name}.yaml`));
  }
  const config = (name: string): string => join(folder.path, "config", name);
  const own = readFileSync(config("sandbox.yaml"), "utf8");
  writeFileSync(
    config("sandbox.yaml"),
    own.replace("\nserve:\n", "\nserve:\n  requestsPerSecond: { keyless: 40, keyed: 200 }\n"),
  );
  const sandbox = start(folder.path, ["sandbox", "--no-daemon", "--json", "--port", "0"]);
  onTestFinished(() => void sandbox.process.kill("SIGTERM"));
  const world = JSON.parse(await sandbox.firstLine) as {
    rpcUrl: string;
    serviceUrl: string;
    wallet: { privateKey: string };
  };
  const { url, received, mood } = await startMoodyReceiver();
  const env = {
    ...{ ALERTS_RPC: world.rpcUrl, ALERTS_KEY: world.wallet.privateKey },
    ...{ ALERTS_URL: `${url}${PATH}`, ALERTS_SECRET: SECRET },
  };
  let text = change(own, "url: embedded", `url: "${world.serviceUrl}"`);
  for (const [from, to] of [
    ["SWAPD_SANDBOX_RPC", "ALERTS_RPC"],
    ["SWAPD_SANDBOX_WALLET_KEY", "ALERTS_KEY"],
    ["../.swapd/sandbox/swapd.db", "../alerts.db"],
    ["127.0.0.1:9464", "127.0.0.1:0"],
    ["level: info", "level: debug"],
    [
      /^serve:[\s\S]*?(?=^timing:)/m,
      "alerts: { webhook: { url: { env: ALERTS_URL }, secret: { env: ALERTS_SECRET }, minimum: info } }\n",
    ],
  ] as const) {
    text = change(text, from, to);
  }
  writeFileSync(config("trading.yaml"), text);
  writeFileSync(config("denied.yaml"), change(text, "sandbox.policy.yaml", "denied.policy.yaml"));
  const policy = readFileSync(config("sandbox.policy.yaml"), "utf8");
  writeFileSync(config("denied.policy.yaml"), change(policy, 'max_trade: "50000 USD"', 'max_trade: "1 USD"'));
  const texts: string[] = [];
  const begin = (file: string, more: Record<string, string> = {}): Started => {
    const daemon = start(folder.path, ["start", "--config", config(file)], { ...env, ...more });
    onTestFinished(() => void daemon.process.kill("SIGKILL"));
    return daemon;
  };
  const end = async (daemon: Started): Promise<number> => {
    const askedMs = performance.now();
    daemon.process.kill("SIGTERM");
    const { code, out, err } = await daemon.ended;
    texts.push(out, err);
    expect(code).toBe(0);
    return performance.now() - askedMs;
  };
  const swapd = async (...args: string[]) => await run(folder.path, [...args, "--config", config("denied.yaml")], env);
  const unsent = async (): Promise<{ code: string; attempts: number }[]> =>
    JSON.parse((await swapd("status", "--json")).out).unsentAlerts;

  // Killed after the commit of a denial and before anybody was notified.
  const killed = await begin("denied.yaml", { SWAPD_CRASH_AT: "commit.facts-read.after#1" }).ended;
  texts.push(killed.out, killed.err);
  expect(killed.code).toBeNull();
  const denial = (await unsent()).map(({ code }) => code).find((code) => code !== "RATE_LIMIT_UNEXPECTED");
  expect(denial).toMatch(/^(TRADE_TOO_LARGE|RUN_CAP_EXCEEDED)$/);
  expect(codesOf(received)).not.toContain(denial);

  // The next start sends it, again and again until it is taken.
  const second = begin("denied.yaml");
  await vi.waitFor(async () => {
    const sent = codesOf(received);
    expect(sent.filter((code) => code === denial).length).toBeGreaterThanOrEqual(2);
    expect(sent).toContain("RATE_LIMIT_UNEXPECTED");
    expect((await unsent()).filter(({ code }) => code === "RATE_LIMIT_UNEXPECTED")).toEqual([]);
  }, LONG);
  for (const request of received) expect(await isSigned(request, SECRET)).toBe(true);

  // A receiver that hangs holds up neither a stop nor a swap.
  mood.hangs = true;
  expect((await swapd("halt", "--reason", "dry run")).code).toBe(0);
  await vi.waitFor(() => expect(mood.held.length).toBe(1), LONG);
  expect(await end(second)).toBeLessThan(5_000);
  // Slots go on coming due while nobody takes alerts: other pairs may be denied alongside the halt.
  expect((await unsent()).map(({ code }) => code)).toContain("HALTED_BY_OPERATOR");
  for (const scope of [[], ...(await pausedStrategies(swapd))]) await swapd("resume", ...scope);
  const third = begin("trading.yaml");
  await vi.waitFor(() => expect(third.output()).toContain("swap confirmed"), LONG);
  expect(mood.held.length).toBeGreaterThan(1);
  await end(third);

  for (const name of readdirSync(folder.path).filter((entry) => entry.startsWith("alerts.db"))) {
    texts.push(readFileSync(join(folder.path, name), "latin1"));
  }
  expect(texts.join("\n")).toContain("HALTED_BY_OPERATOR");
  for (const hidden of [SECRET, "canary-alert-path", "canary-alert-query"]) {
    expect(
      texts.some((place) => place.includes(hidden)),
      hidden,
    ).toBe(false);
  }
});

async function pausedStrategies(swapd: (...args: string[]) => Promise<{ out: string }>): Promise<string[][]> {
  const { modes } = JSON.parse((await swapd("status", "--json")).out) as { modes: { scope: string }[] };
  return modes.filter(({ scope }) => scope !== "global").map(({ scope }) => [scope]);
}

it("swapd notify test shows what the receiver answers, and ends with 1 when it did not take it", async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const { url, received } = await startReceiver(
    (response, count) => void response.writeHead(count === 1 ? 202 : 404).end(),
  );
  const file = join(folder.path, "config/notified.yaml");
  const example = readDryExample(folder.path).replace(
    "main: {",
    'main: { address: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",',
  );
  writeFileSync(file, `${example}\nalerts: { webhook: { url: { env: HOOK_URL }, secret: { env: HOOK_SECRET } } }\n`);
  const test = async (env: Record<string, string>, ...more: string[]) =>
    await run(folder.path, ["notify", "test", "--config", file, ...more], {
      HOOK_URL: url + PATH,
      HOOK_SECRET: SECRET,
      ...env,
    });
  const taken = await test({});
  expect(taken).toMatchObject({ code: 0, err: "", out: expect.stringContaining("HTTP 202") });
  expect(codesOf(received)).toEqual(["TEST"]);
  expect(await isSigned(received[0] as Received, SECRET)).toBe(true);
  const refused = await test({});
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("did not take the alert: HTTP 404") });
  const json = await test({}, "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({
    channels: [{ channel: "webhook", kind: "webhook", host: new URL(url).host, taken: false, detail: "HTTP 404" }],
  });
  const gone = await test({ HOOK_URL: `http://127.0.0.1:1${PATH}` });
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining("127.0.0.1:1") });
  expect(await test({ HOOK_SECRET: "short" })).toMatchObject({ code: 78, err: expect.stringContaining("at least 16") });
  expect(await test({ HOOK_URL: "hooks/canary-alert-path" })).toMatchObject({ code: 78 });
  expect(await test({ HOOK_SECRET: "" })).toMatchObject({
    code: 78,
    err: expect.stringContaining("HOOK_SECRET is empty"),
  });
  for (const { out, err } of [taken, refused, json, gone]) expect(out + err).not.toMatch(/canary-alert/);
  const phone = await startReceiver((response) => void response.writeHead(200).end("{}"));
  const named = `channels: { phone: { kind: ntfy, server: "${phone.url}", topic: { env: TOPIC }, token: { env: TOKEN } } }`;
  writeFileSync(
    file,
    `${example}\nalerts: { webhook: { url: { env: HOOK_URL }, secret: { env: HOOK_SECRET } }, ${named} }\n`,
  );
  const both = await test({ TOPIC: "canary-alert-topic", TOKEN: "tk_canaryalerttoken0123456789abc" });
  expect(both).toMatchObject({ code: 1, out: expect.stringMatching(/^phone: \S+ took the alert \S+: HTTP 200$/m) });
  expect(both.err).toMatch(/^webhook: \S+ did not take the alert: HTTP 404\n$/m);
  for (const secret of ["canary-alert-topic", "canaryalerttoken"]) expect(both.out + both.err).not.toContain(secret);
  expect(JSON.parse(phone.received[0]?.body ?? "")).toMatchObject({
    topic: "canary-alert-topic",
    title: "TEST on base",
  });
  writeFileSync(file, example);
  expect(await test({})).toMatchObject({ code: 1, err: expect.stringContaining("names no channel") });
});
