import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfiguration } from "../../src/app/load-configuration.ts";
import { formatProblems } from "../../src/config/problem.ts";
import { write } from "./project.ts";

/** Dockerfile, compose.yaml and the example for a start are one promise: together they run as they are. */

const root = join(import.meta.dirname, "../..");
const shipped = (path: string): string => readFileSync(join(root, path), "utf8");

interface Compose {
  readonly services: {
    readonly swapd: Readonly<Record<string, unknown>> & {
      readonly environment: Readonly<Record<string, string>>;
      readonly volumes: readonly string[];
      readonly secrets?: readonly string[];
    };
  };
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const { services, volumes, ...named } = parse(shipped("compose.yaml")) as Compose;
/** As it is once the lines about secrets are no comments any more. */
const withSecrets = parse(shipped("compose.yaml").replace(/^( *)# (?=secrets:| {2}wallet\.)/gm, "$1")) as Compose;
const { swapd } = services;
const image = shipped("Dockerfile");
const example = shipped("config/mainnet.example.yaml");

function imageEnvironment(): Readonly<Record<string, string>> {
  return Object.fromEntries([...image.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]));
}

test("the example alongside its policy and strategies, as it is mounted, loads without any secret", () => {
  // not all of them: two mixes of one wallet are refused
  const names = readdirSync(join(root, "strategies/examples")).filter((name) => name !== "calm-mix.yaml");
  const folder = write({
    "config/swapd.yaml": example,
    "config/policy.example.yaml": shipped("config/policy.example.yaml"),
    ...Object.fromEntries(names.map((name) => [`config/strategies/${name}`, shipped(`strategies/examples/${name}`)])),
  });
  const outcome = loadConfiguration(join(folder, "config/swapd.yaml"), imageEnvironment());
  if (!outcome.ok) throw new Error(formatProblems(outcome.problems));
  const { database, serve, identity, listen, strategies } = outcome.configuration;
  expect(strategies).toHaveLength(names.length);

  const writable = swapd.volumes.filter((volume) => !volume.endsWith(":ro")).map((volume) => volume.split(":"));
  const isNamed = (target: string): boolean =>
    writable.some(([source = "", at]) => at === target && Object.hasOwn(volumes, source));
  const places = [dirname(database), dirname(serve.database), identity];
  expect(places).toEqual(["/data", "/data", "/identity"]);
  expect(places.every(isNamed)).toBe(true);
  // Prometheus asks from another container; from the host only those on it do.
  expect(listen.host).toBe("0.0.0.0");
  expect(swapd.ports).toEqual([`127.0.0.1:${listen.port}:${listen.port}`]);
  expect(imageEnvironment().SWAPD_HEALTH_URL).toBe(`http://127.0.0.1:${listen.port}/healthz`);
});

test("what the example takes from outside is what compose.yaml hands in", () => {
  const variables = [...example.matchAll(/^[^#\n]*/gm)].flatMap(([line]) => [...line.matchAll(/env: (\w+)/g)]);
  expect(variables.map(([, name]) => name)).toEqual(Object.keys(swapd.environment));
  // A secret without its file keeps compose from starting: it is a comment until somebody has one.
  expect([swapd.secrets, named.secrets]).toEqual([undefined, undefined]);
  const files = [...(/^ +# main: .*$/m.exec(example)?.[0] ?? "").matchAll(/\/run\/secrets\/([\w.]+)/g)];
  expect(files.map(([, name]) => name)).toEqual(["wallet.json", "wallet.pass"]);
  expect(withSecrets.services.swapd.secrets).toEqual(files.map(([, name]) => name));
  expect(Object.keys(withSecrets.secrets ?? {})).toEqual(withSecrets.services.swapd.secrets);
});

test("the container is locked down, and its default command waits for broken files", () => {
  expect(swapd).toMatchObject({
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    stop_grace_period: "30s",
    logging: { options: { "max-size": "10m", "max-file": "5" } },
  });
  expect(swapd.volumes).toContain("./config:/config:ro");
  expect(image).toMatch(/^ENTRYPOINT \["swapd"\]\nCMD \["start", "--wait"\]$/m);
  expect(imageEnvironment().SWAPD_CONFIG).toBe("/config/swapd.yaml");
  expect(image.match(/^USER .*$/gm)).toEqual(["USER node"]);
  expect(image).toMatch(/--omit=dev --omit=optional/);
});

test("secrets and one's own configuration alongside compose.yaml go into no commit, and the latter into no image", () => {
  expect(shipped(".gitignore").split("\n")).toEqual(
    expect.arrayContaining([
      ...[".env", "/secrets/", "/config/swapd.yaml", "/config/strategies/", "/config/policy.yaml"],
      ...["/config/wallet*.json", "/config/*.pass", "/config/rpc*.url", "/config/identity/"],
    ]),
  );
  expect(shipped(".dockerignore").split("\n")).toEqual(
    expect.arrayContaining([
      ...["*", "config/swapd.yaml", "config/strategies", "config/policy.yaml"],
      ...["config/wallet*.json", "config/*.pass", "config/rpc*.url", "config/identity"],
    ]),
  );
});

test("the scripts that build the image have all modules that they import", () => {
  const copied = [...image.matchAll(/\bscripts\/\w[\w-]*\.ts\b/g)].map(([path]) => path);
  const imported = copied.flatMap((path) =>
    [...shipped(path).matchAll(/ from "\.\/([\w-]+\.ts)"/g)].map(([, name]) => `scripts/${name}`),
  );
  expect(copied).toContain("scripts/build.ts");
  expect(imported.filter((path) => !copied.includes(path))).toEqual([]);
  const context = shipped(".dockerignore").split("\n");
  expect(copied.filter((path) => !context.includes(`!${path}`))).toEqual([]);
});
