import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { claimPort } from "../../../src/sandbox/free-port.ts";

const MONITORING = join(import.meta.dirname, "../../../monitoring");

/** The programs that are not on this machine; Debian's packages prometheus and prometheus-alertmanager have them. */
export function missingPrograms(names: readonly string[]): readonly string[] {
  return names.filter((name) => spawnSync("which", [name]).status !== 0);
}

/** A Prometheus and an Alertmanager at work, which tell a receiver of alerts. */
export interface Monitoring {
  /** @returns the result of an instant query. @throws Error where Prometheus refuses it */
  query(expression: string): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]>;
}

interface Targets {
  readonly folder: string;
  /** host and port of the daemon's report */
  readonly target: string;
  readonly receiverUrl: string;
}

/** Starts both with the shipped rules, without their waits: what lasts minutes there lasts seconds here. */
export async function startMonitoring({ folder, target, receiverUrl }: Targets): Promise<Monitoring> {
  mkdirSync(folder, { recursive: true });
  const [port, alerts] = [await claimPort(0), await claimPort(0)];
  const rules = readFileSync(join(MONITORING, "swapd.rules.yml"), "utf8");
  const hasty = rules.replaceAll(/for: \d+m/g, "for: 0s").replace("> 1800", "> 3");
  writeFileSync(join(folder, "rules.yml"), hasty);
  const scrape = `{ job_name: swapd, static_configs: [{ targets: ["${target}"] }] }`;
  const lines = [
    "global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }",
    "rule_files: [rules.yml]",
    `alerting: { alertmanagers: [{ static_configs: [{ targets: ["127.0.0.1:${alerts}"] }] }] }`,
    `scrape_configs: [${scrape}]`,
  ];
  writeFileSync(join(folder, "prometheus.yml"), `${lines.join("\n")}\n`);
  const route = 'route: { receiver: test, group_by: ["..."], group_wait: 0s, group_interval: 1s, repeat_interval: 1h }';
  const receivers = `receivers: [{ name: test, webhook_configs: [{ url: "${receiverUrl}" }] }]`;
  writeFileSync(join(folder, "alertmanager.yml"), `${route}\n${receivers}\n`);
  begin("prometheus-alertmanager", folder, [
    ...["--config.file=alertmanager.yml", "--storage.path=alerts", `--web.listen-address=127.0.0.1:${alerts}`],
    "--cluster.listen-address=",
  ]);
  begin("prometheus", folder, [
    ...["--config.file=prometheus.yml", "--storage.tsdb.path=data", `--web.listen-address=127.0.0.1:${port}`],
  ]);
  return {
    query: async (expression) => {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const answer = (await (await fetch(url)).json()) as { status: string; error?: string; data: { result: never[] } };
      if (answer.status !== "success") throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result;
    },
  };
}

function begin(program: string, folder: string, args: readonly string[]): void {
  const child = spawn(program, args, { cwd: folder, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
}
