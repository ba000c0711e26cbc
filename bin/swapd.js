#!/usr/bin/env node
// Starts swapd on Node 24 or newer. This file is plain JavaScript that Node 20 understands too, because npm runs it with
// whatever `node` is first on the PATH. On an old one it goes on with the Node 24 that npm installed beside swapd.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";

const NEEDED_MAJOR = 24;
const EXIT_CONFIGURATION = 78;
/** Set for the process that goes on, so that a wrong installation cannot start processes for ever. */
const PASSED_ON = "SWAPD_LAUNCHED";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Source where there is source, else what was compiled from it. */
function entry() {
  const source = join(root, "src/main.ts");
  return existsSync(source) ? source : join(root, "dist/main.js");
}

/**
 * The Node 24 that npm installed, or undefined where npm has none for this machine: below swapd in a checkout, and beside
 * it or further out where swapd is a package that npm installed.
 */
function installedNode() {
  if (process.platform !== "linux") return undefined;
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) return undefined;
  }
}

/**
 * Goes on in another process: the same terminal, the same signals, the same end. The channel between the two closes
 * when this one is killed, and then the other stops as well.
 */
function passOn(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [PASSED_ON]: "1" },
  });
  const isTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal's Ctrl-C reaches both; passed on, it would count as the second one, which stops without waiting.
      if (signal !== "SIGINT" || !isTerminal) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    process.stderr.write(`swapd: ${node} cannot be started: ${error.message}\n`);
    process.exitCode = EXIT_CONFIGURATION;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

const passedOn = process.env[PASSED_ON] !== undefined;
if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) {
  if (passedOn && process.channel !== undefined) {
    delete process.env[PASSED_ON];
    process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
    process.channel.unref();
  }
  // In the installation's own folder, which only those may write who may change the program as well; never in /tmp.
  // A daemon whose objects live long or die at once gains nothing from a large young generation, which V8 else grows to
  // a hundred megabytes.
  setFlagsFromString("--semi-space-growth-factor=1");
  // An audit reads much and keeps little: of a larger young generation as much garbage grows old as it ever reads. A
  // thousand swaps take 140 MB with this and 210 MB without. It acts only before there are objects.
  if (process.argv[2] === "audit") setFlagsFromString("--max-semi-space-size=2");
  const { enableCompileCache } = await import("node:module");
  enableCompileCache(join(root, "node_modules/.cache/swapd"));
  await import(pathToFileURL(entry()).href);
} else {
  const node = passedOn ? undefined : installedNode();
  if (node === undefined) {
    process.stderr.write(
      `swapd needs Node ${NEEDED_MAJOR} or newer; this is Node ${process.versions.node}.\n` +
        "On Linux (x64) `npm ci` installs it beside swapd, unless optional packages are switched off.\n" +
        "Elsewhere install it from https://nodejs.org and make it the first `node` on the PATH.\n",
    );
    process.exitCode = EXIT_CONFIGURATION;
  } else {
    passOn(node);
  }
}
