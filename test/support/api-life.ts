import { type IncomingHttpHeaders, request } from "node:http";
import { onTestFinished } from "vitest";
import { createAccessStore } from "../../src/adapters/sqlite/daemon/access-store.ts";
import { createListing } from "../../src/adapters/sqlite/daemon/listing.ts";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { createIntlZones } from "../../src/adapters/zones/intl-zones.ts";
import { type CommitSignal, createCommitSignal } from "../../src/app/commit-signal.ts";
import type { ApiSources } from "../../src/app/http/api/api-sources.ts";
import { hashOfSecret } from "../../src/app/http/api/secrets.ts";
import { createHealthReader } from "../../src/app/http/health.ts";
import { startStatusServer } from "../../src/app/http/status-server.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { createReach } from "../../src/engine/reach.ts";
import type { Scope } from "../../src/ports/access.ts";
import type { UnitOfWork } from "../../src/ports/unit-of-work.ts";
import { loaded, MAIN } from "../config/project.ts";
import { SLOT_MS, USDC, WBTC, WETH } from "./builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn } from "./engine-life.ts";
import { silentLogger } from "./silent-logger.ts";

/** What a server answered. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, which the tests look into
  readonly json: any;
}

/** How something is asked for. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type LifeSources = ApiSources & { readonly store: UnitOfWork };

/** A daemon of these tests with its API on a port, and tokens for it. */
export interface ApiLife {
  readonly outside: Outside;
  readonly life: Life;
  readonly url: string;
  readonly host: string;
  readonly sources: LifeSources;
  readonly configuration: Configuration;
  readonly logger: ReturnType<typeof silentLogger>;
  readonly tokens: Readonly<Record<Scope, string>>;
  ask(path: string, how?: Ask): Promise<Answer>;
  /** With the token of a scope. */
  as(scope: Scope, path: string, how?: Ask): Promise<Answer>;
}

/** The files of the account that the engine of these tests trades for, with its tokens. */
function filesOfLife(change: Readonly<Record<string, string>> = {}) {
  const token = ({ address, decimals }: { address: string; decimals: number }): string =>
    `{ address: "${address}", decimals: ${decimals}, feed: { address: "0x${"f".repeat(40)}", heartbeat: 1h } }`;
  const tokens = `tokens:\n  USDC: ${token(USDC)}\n  WETH: ${token(WETH)}\n  WBTC: ${token(WBTC)}\n`;
  return {
    "main.yaml": MAIN.replace(/tokens:\n(?: {2}.*\n)+/, tokens),
    "wallet.json": JSON.stringify({ version: 3, address: ACCOUNT.slice(2), crypto: {} }),
    ...change,
  };
}

/** Starts a daemon with its API, lets it fill its first slot, and hands out a token of each scope. */
export async function startApiLife(
  options: { readonly files?: Readonly<Record<string, string>>; readonly seconds?: number } = {},
): Promise<ApiLife> {
  const outside = createOutside(SLOT_MS - 2_000);
  const commits = createCommitSignal(realTime());
  const life = openLife(outside, { onCommit: commits.committed });
  await life.engine.start();
  await turn(outside, life, options.seconds ?? 60);
  const configuration = loaded(filesOfLife(options.files), { RPC_1: "http://127.0.0.1:1" });
  const logger = silentLogger();
  const sources = sourcesOf({ outside, life, configuration, logger, commits });
  const { url, stop } = await startStatusServer(
    { host: "127.0.0.1", port: 0, names: ["swapd.internal"] },
    {
      ...{ health: sources.health, metrics: { contentType: "text/plain", read: async () => "" }, logger },
      ...{ clock: sources.clock, api: sources },
    },
  );
  onTestFinished(stop);
  const tokens = { read: `swapd_${"r".repeat(43)}`, operate: `swapd_${"o".repeat(43)}` };
  for (const scope of ["read", "operate"] as const)
    await sources.access.addToken({ name: `t-${scope}`, scope, hash: hashOfSecret(tokens[scope]), madeBy: "test" }, 0);
  const ask = (path: string, how: Ask = {}): Promise<Answer> => send(`${url}${path}`, how);
  return {
    ...{ outside, life, url, host: new URL(url).host, sources, configuration, logger, tokens, ask },
    as: (scope, path, how = {}) =>
      ask(path, { ...how, headers: { authorization: `Bearer ${tokens[scope]}`, ...how.headers } }),
  };
}

function sourcesOf({
  outside,
  life,
  configuration,
  logger,
  commits,
}: Pick<ApiLife, "outside" | "life" | "configuration" | "logger"> & { readonly commits: CommitSignal }): LifeSources {
  const { clock } = outside;
  const { engine, context, db } = life;
  const reads = createReadModel(db);
  const service = createReach({ clock });
  const parts = { mode: "live", clock, engine, node: createReach({ clock }), service, signers: [], reads };
  // Of the world's time nothing passes while a request waits.
  const realClock = { ...realTime(), nowMs: () => clock.nowMs() };
  return {
    ...{ configuration: () => configuration, load: undefined, reads, listing: createListing(db), service, logger },
    access: createAccessStore(db),
    health: createHealthReader({ ...parts, whyUnable: () => undefined }),
    ...{ chain: context.deps.chain, prices: context.deps.prices, clock: realClock, zones: createIntlZones() },
    endpoints: () => [{ host: "node.example", findings: [{ ability: "logs", state: "able" }] }],
    ...{ submitHosts: [], lookAhead: engine.lookAhead, commits, store: context.deps.store },
  };
}

function realTime() {
  return {
    monotonicMs: () => performance.now(),
    sinceBoot: () => ({ id: "boot", ms: performance.now() }),
    sleep: async (ms: number, signal?: AbortSignal) =>
      await new Promise<void>((resolve) => {
        if (signal?.aborted === true) return resolve();
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener("abort", () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/** With headers of one's own choice, `Host` among them, which fetch does not let one choose. */
async function send(url: string, { method = "GET", headers = {}, body }: Ask = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request(url, { method, headers: { ...type, ...headers } }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += String(chunk);
      });
      response.on("end", () => {
        const isJson = (response.headers["content-type"] ?? "").includes("json") && text !== "";
        const json: unknown = isJson ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
