import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import type { HealthReader } from "../../src/app/http/health.ts";
import { createMetrics } from "../../src/service/http/metrics.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { metricsSample } from "../support/metrics-sample.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";

const shipped = (path: string): string => readFileSync(join(import.meta.dirname, "../..", path), "utf8");

const part = { ready: true, reason: null, since: null };
const of = { mode: "live", operating: { global: "active", strategies: {} } };
const health: HealthReader = {
  health: async () => ({ healthy: true, ...of, tickAgeMs: 7, problems: [] }),
  readiness: async () => {
    const parts = {
      node: part,
      service: part,
      clock: { ...part, skewMs: 5 },
      database: part,
      signer: { ...part, away: ["main"] },
    };
    return { ready: true, ...of, ...parts };
  },
};

/** The names of all figures of swapd, as its daemon and its service give them. */
async function figures(): Promise<ReadonlySet<string>> {
  const { db } = openDaemonDatabase(`${memoryDirectory()}/figures.db`);
  const sample = { wallet: "main", token: "ETH", spender: undefined, amount: 1, dollars: 1, readAtMs: 0 };
  const text = await metricsSample({ reads: createReadModel(db), health, samples: [sample] }).read();
  const service = await createMetrics({ networks: [], inFlight: () => 0 }).text();
  const names = [...`${text}\n${service}`.matchAll(/^# HELP (swapd_\w+)/gm)].map(([, name = ""]) => name);
  // Of a database without a fill it says no instant of the last one.
  return new Set([...names, "swapd_last_fill_timestamp_seconds"]);
}

/** Names of figures in a text, without the endings of a histogram's series. */
function namesIn(text: string): ReadonlySet<string> {
  const names = [...text.matchAll(/\bswapd_[a-z_]+/g)].map(([name]) => name);
  return new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, "")).filter((name) => !name.endsWith("_")));
}

interface Rule {
  readonly alert: string;
}

const rules = (parse(shipped("monitoring/swapd.rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

it("every figure has its row on the page, and every row its figure", async () => {
  const rows = [...shipped("docs/MONITORING.md").matchAll(/^\| `(swapd_\w+)/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...(await figures())].sort());
});

it.each(["monitoring/swapd.rules.yml", "monitoring/grafana/swapd.json"])(
  "%s asks for figures that there are",
  async (file) => {
    const known = await figures();
    const strangers = [...namesIn(shipped(file))].filter((name) => !known.has(name));
    expect(strangers).toEqual([]);
  },
);

it("every rule has its row with what to do, and every row its rule", () => {
  const rows = [...shipped("docs/MONITORING.md").matchAll(/^\| `(Swapd\w+)`/gm)].map(([, name]) => name);
  expect(rows).toEqual(rules.map(({ alert }) => alert));
});

it("a Prometheus of the compose project asks the daemon by a name that it answers to: its machine's own", () => {
  const { services } = parse(shipped("compose.yaml")) as { services: { swapd: { hostname?: string } } };
  const asked = parse(shipped("monitoring/prometheus.yml")) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = asked.scrape_configs.flatMap(({ static_configs }) => static_configs.flatMap((one) => one.targets));
  expect(targets).toEqual([`${services.swapd.hostname}:9464`]);
});

interface Probe {
  readonly httpGet: { readonly path: string };
  readonly failureThreshold: number;
  readonly periodSeconds: number;
}

interface PodSpec {
  readonly securityContext: object;
  readonly containers: readonly [{ readonly startupProbe: Probe; readonly livenessProbe: Probe }];
}

it("a cluster runs one daemon at a time, as nobody, with two volumes", () => {
  const documents = parseAllDocuments(shipped("deploy/kubernetes.yaml")).map((document) => document.toJS() as unknown);
  const [data, identity, deployment] = documents as unknown as [
    { kind: string },
    { kind: string },
    { spec: { replicas: number; strategy: object; template: { spec: PodSpec } } },
  ];
  expect([data.kind, identity.kind]).toEqual(["PersistentVolumeClaim", "PersistentVolumeClaim"]);
  const [{ startupProbe: began, livenessProbe: alive }] = deployment.spec.template.spec.containers;
  expect([began.httpGet, alive.httpGet.path]).toEqual([alive.httpGet, "/healthz"]);
  expect(began.failureThreshold * began.periodSeconds, "the pod may migrate, or wait, so long").toBe(3_600);
  expect(deployment.spec).toMatchObject({
    replicas: 1,
    strategy: { type: "Recreate" },
    template: { spec: { securityContext: { runAsNonRoot: true }, terminationGracePeriodSeconds: 30 } },
  });
});
