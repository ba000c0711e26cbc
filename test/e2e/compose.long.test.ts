import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { base } from "../../src/networks/base.ts";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { startForeignChain } from "../support/foreign-chain.ts";
import { makeFolder, run, start, until } from "./support/swapd.ts";

// What compose does with its file, done with processes: files where the mounts say, the image's environment and command.
// A container engine's own part (read-only root, capabilities, limits) is not tried here.

const root = join(import.meta.dirname, "../..");
const shipped = (path: string): string => readFileSync(join(root, path), "utf8");
const compose = parse(shipped("compose.yaml")) as {
  services: { swapd: { environment: Record<string, string>; secrets?: string[]; volumes: string[] } };
};
const { environment, secrets, volumes } = compose.services.swapd;
const image = shipped("Dockerfile");

/** As compose fills variables in: `${NAME:?message}` must be set. */
function filled(given: Readonly<Record<string, string>>): Record<string, string> {
  const values = Object.entries(environment).map(([name, text]): [string, string] => {
    const asked = /^\$\{(\w+):\?.*\}$/.exec(text)?.[1];
    return [name, asked === undefined ? text : (given[asked] ?? "")];
  });
  return Object.fromEntries(values);
}

/** What a start of the image is, on this machine: its mounts below a folder, its environment, its command. */
async function place() {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const { path: host, remove } = makeFolder();
  onTestFinished(remove);
  const placed = (path: string): string => join(host, path);
  rmSync(placed("config"), { recursive: true });
  for (const folder of ["config/strategies", "data", "identity"]) {
    mkdirSync(placed(folder), { recursive: true, mode: 0o700 });
  }
  const fixed = Object.fromEntries(
    [...image.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
  const env = { ...fixed, ...filled({ RPC_1: chain.rpcUrl }) };
  for (const name of ["SWAPD_CONFIG", "SWAPD_IDENTITY", "SWAPD_DATA"]) env[name] = placed(fixed[name] ?? "");
  const command = JSON.parse(/^CMD (\[.*\])$/m.exec(image)?.[1] ?? "[]") as string[];
  const port = await claimPort(0);
  const healthUrl = (fixed.SWAPD_HEALTH_URL ?? "").replace("9464", String(port));
  return { host, placed, env, command, port, healthUrl };
}

type Place = Awaited<ReturnType<typeof place>>;

/** Starts the daemon, has it trade on paper, and stops it. */
async function tradeOnPaper(at: Place, strategy: string): Promise<void> {
  const { host, env, command, port, healthUrl } = at;
  const checked = await run(host, ["check"], env);
  expect(checked, checked.out).toMatchObject({ code: 0 });
  const daemon = start(host, [...command, "--for", "2m"], env);
  try {
    await until("it is healthy", { process: daemon, withinMs: 60_000 }, async () => {
      const answer = await fetch(healthUrl).catch(() => undefined);
      return answer?.ok === true;
    });
    await until("a run is taken", { process: daemon, withinMs: 60_000 }, async () => {
      return (await run(host, ["run", strategy, "--extra"], env)).code === 0;
    });
    await until("it is filled on paper", { process: daemon, withinMs: 90_000 }, async () => {
      const filled = new RegExp(`${strategy} +\\w+ +\\w+ +[\\d.]+ USDC +[\\d.]+ WETH `);
      return filled.test((await run(host, ["history"], env)).out);
    });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain("swapd_");
  } finally {
    daemon.process.kill("SIGTERM");
  }
  expect((await daemon.ended).code).toBe(0);
}

test("compose.yaml with the shipped example starts, is healthy, trades on paper and stops", {
  timeout: 180_000,
}, async () => {
  const at = await place();
  const { placed, port } = at;
  expect(volumes).toEqual(["data:/data", "identity:/identity", "./config:/config:ro"]);
  expect(secrets).toBeUndefined();
  cpSync(join(root, "config/policy.example.yaml"), placed("config/policy.example.yaml"));
  cpSync(join(root, "strategies/examples/weekly-eth.yaml"), placed("config/strategies/weekly-eth.yaml"));
  const example = shipped("config/mainnet.example.yaml");
  const here = example
    .replaceAll("/data/", `${placed("data")}/`)
    .replace("0.0.0.0:9464", `127.0.0.1:${port}`)
    .replace("serve: {", "serve: { listen: 127.0.0.1:0,");
  writeFileSync(placed("config/swapd.yaml"), here);
  await tradeOnPaper(at, "weekly-eth");
});

test("what `docker compose run swapd init` writes into ./config is what compose.yaml starts: it keeps its databases in the volume", {
  timeout: 180_000,
}, async () => {
  const at = await place();
  const { host, placed, env, port } = at;
  const answers = ["--network", "base", "--sell", "25 USDC", "--buy", "WETH", "--at", "Mon 09:00"];
  const made = await run(host, ["init", "--yes", ...answers], env);
  expect(made, `${made.out}${made.err}`).toMatchObject({ code: 0 });
  const file = placed("config/swapd.yaml");
  const written = readFileSync(file, "utf8");
  expect(written).toContain("0.0.0.0:9464");
  const here = written.replace("0.0.0.0:9464", `127.0.0.1:${port}`);
  writeFileSync(file, here.replace("serve: {", "serve: { listen: 127.0.0.1:0,"));
  const before = readdirSync(placed("config"), { recursive: true }).sort();
  await tradeOnPaper(at, "buy-weth");
  expect(readdirSync(placed("config"), { recursive: true }).sort(), "the folder is mounted read-only").toEqual(before);
  expect(readdirSync(placed("data")).length).toBeGreaterThan(0);
});
