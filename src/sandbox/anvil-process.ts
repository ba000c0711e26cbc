import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { createRpc, type Rpc } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";

/** How to run anvil. `arguments` come after host, port and silence, which are set here. */
interface AnvilOptions {
  readonly binary: string;
  readonly port: number;
  readonly arguments: readonly string[];
  /** How long the node may take until it answers. */
  readonly startTimeoutMs: number;
  /** A chain to fork: it may carry a key, which neither an error nor the list of processes shows. */
  readonly forkUrl?: string | undefined;
}

/** A running anvil. */
export interface Anvil {
  readonly rpc: Rpc;
  /** Asks anvil to save its state and end, and waits until process and port are gone. Calling it again is harmless. */
  stop(): Promise<void>;
  /** Resolves when anvil ends without having been asked. It never rejects. */
  readonly failed: Promise<Error>;
}

/**
 * Runs the command given as arguments until it ends or standard input closes, whichever is first. The kernel closes
 * that pipe however its owner ends, so a killed owner leaves no node behind. Only sh and cat are needed.
 */
const WATCHDOG = `
exec 3<&0 </dev/null
"$@" 3<&- &
node=$!
{ cat <&3 >/dev/null; kill -TERM "$node"; } 2>/dev/null &
watch=$!
exec 3<&-
wait "$node"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;

/** The node sees no secrets of ours: only what it needs to run and, for a fork, to reach the outside. */
const PASSED_ENVIRONMENT = [
  "PATH",
  "HOME",
  "TMPDIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];

/** Under this name the node finds the URL of the fork in its environment, which nobody else can read. */
const FORKED = "forked";

const POLL_INTERVAL_MS = 15;
const STOP_TIMEOUT_MS = 20_000;
const KEPT_OUTPUT_CHARS = 4_000;

/**
 * Starts anvil under the watchdog, in a session of its own: ctrl-C in a terminal reaches the caller, who then stops the
 * node last.
 * @throws SandboxError `ANVIL_EXITED` when it ends or stays silent instead of answering
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { forkUrl } = options;
  // The node tells its fork's URL to whoever asks, so a page in a browser must not be one of them.
  const forking = forkUrl === undefined ? [] : ["--fork-url", FORKED, "--no-cors"];
  const command = ["--host", "127.0.0.1", "--port", String(options.port), "--quiet", ...forking, ...options.arguments];
  const child = spawn("sh", ["-c", WATCHDOG, "anvil-watchdog", options.binary, ...command], {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
    env: passedEnvironment(forkUrl),
  });
  const output = keepOutput(child, forkUrl);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
    child.once("exit", (code, signal) => {
      child.stdin?.destroy();
      resolve(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    });
  });
  // A write to a pipe whose reader is gone is no news: the exit says it.
  child.stdin?.on("error", () => undefined);

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= endChild(child, exited);
    return stopping;
  };
  const failed = new Promise<Error>((resolve) => {
    void exited.then((how) => {
      if (stopping === undefined)
        resolve(new SandboxError("ANVIL_EXITED", `The EVM node anvil ${how}. ${output()}`.trim()));
    });
  });

  const rpc = createRpc(`http://127.0.0.1:${options.port}`);
  const early = await Promise.race([failed, untilAnswering(rpc, options.startTimeoutMs)]);
  if (early !== undefined) {
    await stop();
    throw early;
  }
  return { rpc, stop, failed };
}

async function untilAnswering(rpc: Rpc, timeoutMs: number): Promise<Error | undefined> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      await rpc.call("eth_chainId");
      return undefined;
    } catch (error) {
      // Not listening yet. The last reason is reported when the time is up.
      last = error;
      await sleep(POLL_INTERVAL_MS);
    }
  }
  return new SandboxError("ANVIL_EXITED", `The EVM node anvil did not answer within ${timeoutMs} ms.`, { cause: last });
}

async function endChild(child: ChildProcess, exited: Promise<string>): Promise<void> {
  child.stdin?.end();
  const timer = new AbortController();
  const late = sleep(STOP_TIMEOUT_MS, "late" as const, { signal: timer.signal }).catch(() => "in time" as const);
  const first = await Promise.race([exited, late]);
  timer.abort();
  if (first !== "late" || child.pid === undefined) return;
  // The watchdog leads its own process group, so the negative id reaches the node and no other process.
  process.kill(-child.pid, "SIGKILL");
  await exited;
}

function keepOutput(child: ChildProcess, secret: string | undefined): () => string {
  let kept = "";
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (text: string) => {
    kept = (kept + text).slice(-KEPT_OUTPUT_CHARS);
  });
  return () => {
    const clean = (secret === undefined ? kept : kept.replaceAll(secret, "(hidden)")).trim();
    return clean === "" ? "" : `It said: ${clean}`;
  };
}

function passedEnvironment(forkUrl: string | undefined): Record<string, string> {
  const passed: Record<string, string> = {};
  if (forkUrl !== undefined) passed.FOUNDRY_RPC_ENDPOINTS = `{${FORKED}=${JSON.stringify(forkUrl)}}`;
  for (const name of PASSED_ENVIRONMENT) {
    const value = process.env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
