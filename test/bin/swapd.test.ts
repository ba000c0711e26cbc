import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { version } from "../../src/app/version.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Makes a process believe that it runs on an old Node. What it starts in turn is not touched. */
const OLD_NODE = `--import=data:text/javascript,${encodeURIComponent(
  'if (!process.env.SWAPD_LAUNCHED) Object.defineProperty(process, "versions", { value: { node: "20.20.2" } });',
)}`;

/** Says where it runs, then waits for a signal; `exit N` ends at once. */
const MAIN = `
const [what, code] = process.argv.slice(2);
const timer = setInterval(() => undefined, 1_000);
process.on("SIGTERM", () => { console.log("stopping"); clearInterval(timer); process.exitCode = 7; });
console.log(JSON.stringify({ pid: process.pid, launched: process.env.SWAPD_LAUNCHED ?? null }));
if (what === "exit") process.exit(Number(code));
`;

/** Types a command in a folder. */
async function run([command = "", ...words]: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(command, words, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out };
}

/** A tree with nothing but the launcher and something to launch. */
function tree(options: { node: boolean; place?: "src/main.ts" | "dist/main.js" }): string {
  const directory = temporaryDirectory();
  cpSync(join(ROOT, "bin"), join(directory, "bin"), { recursive: true });
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }\n');
  const place = options.place ?? "src/main.ts";
  mkdirSync(join(directory, place, ".."), { recursive: true });
  writeFileSync(join(directory, place), MAIN);
  if (options.node) {
    // The Node that runs the tests stands in for the one that npm installs on this platform.
    const bin = join(directory, `node_modules/node-linux-${process.arch}/bin`);
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, "node"));
  }
  return directory;
}

interface Launched {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly errors: () => string;
  readonly firstLine: Promise<string>;
  readonly ended: Promise<number | null>;
  readonly silent: Promise<void>;
}

function launch(directory: string, flags: readonly string[], words: readonly string[]): Launched {
  const child = spawn(process.execPath, [...flags, join(directory, "bin/swapd.js"), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  return {
    child,
    lines,
    errors: () => errors,
    firstLine: new Promise((resolve) => reader.once("line", resolve)),
    ended: new Promise((resolve) => child.once("exit", resolve)),
    silent: new Promise((resolve) => reader.once("close", resolve)),
  };
}

describe("the launcher", () => {
  it("runs in its own process on a Node that is new enough, so that a kill hits swapd itself", async () => {
    const launched = launch(tree({ node: true }), [], ["exit", "3"]);
    expect(JSON.parse(await launched.firstLine)).toMatchObject({ pid: launched.child.pid, launched: null });
    expect(await launched.ended).toBe(3);
  });

  it("runs what was compiled where there is no source", async () => {
    const launched = launch(tree({ node: true, place: "dist/main.js" }), [], ["exit", "0"]);
    expect(JSON.parse(await launched.firstLine)).toMatchObject({ pid: launched.child.pid });
    expect(await launched.ended).toBe(0);
  });

  it("goes on with the installed Node on an old one, and passes the exit code on", async () => {
    const launched = launch(tree({ node: true }), [OLD_NODE], ["exit", "75"]);
    const said: { pid: number; launched: string | null } = JSON.parse(await launched.firstLine);
    expect(said.pid).not.toBe(launched.child.pid);
    expect(said.launched).toBeNull();
    expect(await launched.ended).toBe(75);
  });

  it("finds the Node that npm installed beside it, where swapd is a package of somebody's project", async () => {
    const project = temporaryDirectory();
    const installed = join(project, "node_modules", "swapd");
    cpSync(tree({ node: false, place: "dist/main.js" }), installed, { recursive: true });
    const bin = join(project, `node_modules/node-linux-${process.arch}/bin`);
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, "node"));
    const launched = launch(installed, [OLD_NODE], ["exit", "75"]);
    const said: { pid: number; launched: string | null } = JSON.parse(await launched.firstLine);
    expect(said.pid).not.toBe(launched.child.pid);
    expect(await launched.ended).toBe(75);
  });

  it("is what `npx swapd` runs in a checkout, and no registry is asked for a package of that name", async () => {
    const asked: string[] = [];
    const registry = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(404).end("{}");
    });
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void registry.close());
    const { port } = registry.address() as AddressInfo;
    const cache = temporaryDirectory();
    const settings = { registry: `http://127.0.0.1:${port}`, cache, update_notifier: "false", fetch_retries: "0" };
    const npm = Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value]);
    const npx = (cwd: string) => run(["npx", "--yes", "swapd", "--version"], cwd, Object.fromEntries(npm));
    expect(await npx(ROOT)).toEqual({ code: 0, out: `${version()}\n` });
    expect(asked).toEqual([]);
    // elsewhere npx would ask for it: the registry of this test is one that is asked
    expect((await npx(temporaryDirectory())).code).not.toBe(0);
    expect(asked).toContain("/swapd");
  }, 60_000);

  it("passes SIGTERM on and waits for the clean stop", async () => {
    const launched = launch(tree({ node: true }), [OLD_NODE], ["stay"]);
    await launched.firstLine;
    launched.child.kill("SIGTERM");
    expect(await launched.ended).toBe(7);
    await launched.silent;
    expect(launched.lines.slice(1)).toEqual(["stopping"]);
  });

  it("leaves nothing running when it is killed itself", async () => {
    const launched = launch(tree({ node: true }), [OLD_NODE], ["stay"]);
    await launched.firstLine;
    launched.child.kill("SIGKILL");
    // The other process holds the pipe open until it has ended.
    await launched.silent;
    expect(launched.lines.slice(1)).toEqual(["stopping"]);
  });

  it("says what to do where no Node is new enough", async () => {
    const launched = launch(tree({ node: false }), [OLD_NODE], ["start"]);
    expect(await launched.ended).toBe(78);
    expect(launched.errors()).toContain("needs Node 24 or newer; this is Node 20.20.2");
  });
});
