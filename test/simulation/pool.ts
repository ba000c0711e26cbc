import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SentResult } from "./seed-process.ts";
import type { SeedTerms } from "./simulate.ts";

const PROCESS = fileURLToPath(new URL("seed-process.ts", import.meta.url));

/** Code that runs once a life is worth its quickest compilation, and what a seed leaves behind dies young. */
const FLAGS = ["--always-sparkplug", "--min-semi-space-size=32", "--max-semi-space-size=64"];

/** The same code is loaded by each process: it is compiled once. */
const ENVIRONMENT = {
  ...process.env,
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/simulation", import.meta.url)),
};

/** Runs seeds in processes of their own, one after the other in each. */
export interface SeedPool {
  run(terms: SeedTerms): Promise<SentResult>;
  close(): void;
}

interface Worker {
  readonly child: ChildProcess;
  isFree: boolean;
}

interface Job {
  readonly terms: SeedTerms;
  resolve(result: SentResult): void;
  reject(error: Error): void;
}

export function openSeedPool(processes: number): SeedPool {
  const waiting: Job[] = [];
  const running = new Map<Worker, Job>();
  let isClosed = false;
  const give = (worker: Worker): void => {
    const job = waiting.shift();
    worker.isFree = job === undefined;
    if (job === undefined) return;
    running.set(worker, job);
    worker.child.send(job.terms);
  };
  const workers = Array.from({ length: processes }, () => {
    const worker: Worker = {
      child: fork(PROCESS, { execArgv: FLAGS, env: ENVIRONMENT, stdio: ["ignore", "inherit", "inherit", "ipc"] }),
      isFree: false,
    };
    worker.child.on("message", (message: SentResult | "ready") => {
      const job = running.get(worker);
      running.delete(worker);
      if (message !== "ready") job?.resolve(message);
      give(worker);
    });
    worker.child.on("exit", (code) => {
      if (isClosed) return;
      const error = new Error(`a process of the simulation ended with ${code}`);
      for (const job of [...running.values(), ...waiting.splice(0)]) job.reject(error);
    });
    return worker;
  });
  return {
    run: (terms) =>
      new Promise((resolve, reject) => {
        waiting.push({ terms, resolve, reject });
        const free = workers.find(({ isFree }) => isFree);
        if (free !== undefined) give(free);
      }),
    close: () => {
      isClosed = true;
      for (const { child } of workers) if (child.connected) child.disconnect();
    },
  };
}
