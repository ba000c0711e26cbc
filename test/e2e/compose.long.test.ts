import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

test("compose.yaml with the shipped example starts, is healthy, trades on paper and stops", {
  timeout: 180_000,
}, async () => {
  const chain = await startForeignChain(base);
  onTestFinished(() => chain.stop());
  const { path: host, remove } = makeFolder();
  onTestFinished(remove);
  const placed = (path: string): string => join(host, path);
  for (const folder of ["config/strategies", "data", "identity"]) {
    mkdirSync(placed(folder), { recursive: true, mode: 0o700 });
  }
  expect(volumes).toEqual(["data:/data", "identity:/identity", "./config:/config:ro"]);
  expect(secrets).toBeUndefined();
  cpSync(join(root, "config/policy.example.yaml"), placed("config/policy.example.yaml"));
  cpSync(join(root, "strategies/examples/weekly-eth.yaml"), placed("config/strategies/weekly-eth.yaml"));
  const port = await claimPort(0);
  const example = shipped("config/mainnet.example.yaml");
  const here = example
    .replaceAll("/data/", `${placed("data")}/`)
    .replace("0.0.0.0:9464", `127.0.0.1:${port}`)
    .replace("serve: {", "serve: { listen: 127.0.0.1:0,");
  writeFileSync(placed("config/swapd.yaml"), here);
  const fixed = Object.fromEntries(
    [...image.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
  const env = {
    ...fixed,
    ...filled({ RPC_1: chain.rpcUrl }),
    SWAPD_CONFIG: placed(fixed.SWAPD_CONFIG ?? ""),
    SWAPD_IDENTITY: placed(fixed.SWAPD_IDENTITY ?? ""),
  };
  const command = JSON.parse(/^CMD (\[.*\])$/m.exec(image)?.[1] ?? "[]") as string[];

  const checked = await run(host, ["check"], env);
  expect(checked, checked.out).toMatchObject({ code: 0 });
  const daemon = start(host, [...command, "--for", "2m"], env);
  try {
    const health = (fixed.SWAPD_HEALTH_URL ?? "").replace("9464", String(port));
    await until("it is healthy", { process: daemon, withinMs: 60_000 }, async () => {
      const answer = await fetch(health).catch(() => undefined);
      return answer?.ok === true;
    });
    await until("a run is taken", { process: daemon, withinMs: 60_000 }, async () => {
      return (await run(host, ["run", "weekly-eth", "--extra"], env)).code === 0;
    });
    await until("it is filled on paper", { process: daemon, withinMs: 90_000 }, async () => {
      return /weekly-eth +\w+ +\w+ +[\d.]+ USDC +[\d.]+ WETH /.test((await run(host, ["history"], env)).out);
    });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain("swapd_");
  } finally {
    daemon.process.kill("SIGTERM");
  }
  expect((await daemon.ended).code).toBe(0);
});
