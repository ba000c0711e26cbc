import { join, resolve } from "node:path";
import type { Configuration } from "../config/configuration.ts";
import type { SandboxWorld } from "../sandbox/world.ts";
import { SANDBOX_DIRECTORY } from "./sandbox-facts.ts";
import type { Daemon } from "./start-daemon.ts";
import type { EmbeddedService } from "./start-embedded-service.ts";
import type { Terminal } from "./terminal.ts";

export const NEXT_COMMANDS = [
  "npx swapd history",
  "npx swapd status",
  "npx swapd why eth-from-usdc",
  "npx swapd audit",
];

interface Running {
  readonly world: SandboxWorld;
  readonly configuration: Configuration;
  readonly service: EmbeddedService | undefined;
  readonly daemon: Daemon | undefined;
}

/** What runs now and where: one JSON line for machines, else a table for people. */
export function announce(terminal: Terminal, options: { readonly json?: boolean }, running: Running): void {
  const { world, service, daemon, configuration } = running;
  if (options.json === true) {
    const { rpcUrl, chainId, network, settlement, tokens, feeds, wallet, market } = world;
    terminal.out(
      JSON.stringify({
        rpcUrl,
        chainId,
        network,
        serviceUrl: service?.url ?? null,
        apiKey: service?.apiKey ?? null,
        apiUrl: daemon?.url ?? null,
        settlement,
        relayer: world.relayer.address,
        tokens,
        feeds,
        wallet,
        database: configuration.database,
        market,
      }),
    );
    return;
  }
  terminal.out(
    `chain     ${world.rpcUrl} (chain ${world.chainId}, a market moves it, nothing on it is worth anything)`,
  );
  if (service !== undefined) terminal.out(`service   ${service.url} (its interface: ${service.url}/openapi.json)`);
  if (daemon === undefined) return;
  terminal.out(`daemon    ${daemon.url}/healthz, wallet ${world.wallet.address}`);
  terminal.out(`page      ${daemon.url}/ (log in with the code of: npx swapd login --sandbox)`);
  terminal.out(`running   ${configuration.strategies.map(({ spec }) => spec.id).join(", ")}`);
  terminal.out(`database  ${configuration.database}; log ${join(resolve(SANDBOX_DIRECTORY), "daemon.log")}`);
  terminal.out(`see       ${NEXT_COMMANDS.join(" | ")}  (in another terminal, or after this one has stopped)`);
  terminal.out("stop      Ctrl-C");
  terminal.out("");
}
