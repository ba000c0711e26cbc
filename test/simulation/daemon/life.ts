import { type ComposedDaemon, composeDaemon } from "../../../src/app/compose-daemon.ts";
import type { Machine } from "../../../src/app/machine.ts";
import type { SecretOpener } from "../../../src/app/open-secrets.ts";
import type { Configuration } from "../../../src/config/configuration.ts";
import type { LoadedStrategy } from "../../../src/engine/engine-context.ts";
import { createRedactor } from "../../../src/net/redact.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { IdentityMarker } from "../../../src/ports/identity-marker.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import { type Connection, type Lent, limitPages } from "./connection.ts";
import { Killed } from "./machine.ts";
import { SECRETS } from "./workload.ts";

/** One life of the daemon on the file: from its start to its end, which is always a kill or a broken invariant. */
export interface Life {
  readonly state: LifeState;
  /** Ends the process here and now: anyone who called goes no further. */
  kill(why: string): never;
  /** The same from outside. */
  end(why: string): void;
  /** Lets the file go; once what is under way has seen that it is dead. */
  close(): void;
  /** undefined: the database has as much room as it wants */
  limitPages(pages: number | undefined): void;
  /** Its files were edited. */
  adopt(strategies: readonly LoadedStrategy[]): void;
}

export interface LifeState {
  phase: "starting" | "running" | "dead";
  /** why it is dead */
  why: string | undefined;
  /** what broke, where that is the reason */
  error: unknown;
}

export interface LifeTerms {
  readonly configuration: Configuration;
  readonly machine: Machine;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly marker: IdentityMarker;
  readonly connection: Connection;
  crashPoint(label: string): void;
  onRunning(): void;
}

/** Opens the file and starts the daemon on it, as `swapd start` does. */
export function beginLife(state: LifeState, terms: LifeTerms, pages: number | undefined): Life {
  let lent: Lent | undefined;
  let composed: ComposedDaemon | undefined;
  let isClosed = false;
  const die = (why: string, error?: unknown): void => {
    if (state.phase === "dead") return;
    state.phase = "dead";
    state.why = why;
    state.error = error;
    // Whatever still runs of it writes nothing any more.
    lent?.bar();
  };
  let allowed: number | undefined;
  const limit = (most: number | undefined): void => {
    if (lent?.db.open !== true || state.phase === "dead" || most === allowed) return;
    allowed = most;
    limitPages(lent.db, most);
  };
  const start = async (): Promise<void> => {
    const { configuration, machine, logger } = terms;
    lent = terms.connection.lend();
    if (pages !== undefined) limit(pages);
    composed = await composeDaemon(configuration, "https://service.sim", {
      ...{ machine, db: lent.db, logger, redactor: createRedactor(), secrets: secretsWith(terms.signer) },
      ...{ crashPoint: terms.crashPoint, marker: terms.marker },
      onFatal: (error) => die("broken", error),
    });
    await composed.engine.start();
    composed.alerts.start();
    if (state.phase !== "starting") return;
    state.phase = "running";
    terms.onRunning();
    const { engine } = composed;
    machine.startTicker(() => engine.tick());
  };
  start().catch((error: unknown) => die("start refused", error));
  return {
    state,
    limitPages: limit,
    kill: (why) => {
      die(why);
      throw new Killed(why);
    },
    end: (why) => die(why),
    adopt: (strategies) => composed?.engine.adopt(strategies),
    close: () => {
      if (isClosed) return;
      isClosed = true;
      void composed?.services.close();
      lent?.close();
    },
  };
}

function secretsWith(signer: Signer): SecretOpener {
  const open = (reference: { readonly env?: string }): Secret => new Secret(SECRETS[reference.env ?? ""] ?? "");
  return {
    open: (reference) => open(reference as { env?: string }),
    rpcUrls: ({ network }) => network.rpc.map((endpoint) => open(endpoint as { env?: string })),
    submitUrls: ({ network: { submit } }) =>
      submit.kind === "named" ? submit.endpoints.map((endpoint) => open(endpoint as { env?: string })) : [],
    signer: async () => signer,
    privateKey: () => undefined,
  };
}
