import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { networkPresetOf } from "../../../src/app/network-preset.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { WIDE_POLICY } from "../../support/wide-policy.ts";

interface Home {
  readonly world: Sandbox["world"];
  readonly mode: "live" | "paper";
  /** below `wallets:` */
  readonly wallets: string;
  /** texts of strategies, by their names */
  readonly strategies: Readonly<Record<string, string>>;
  /** the world's own by default */
  readonly preset?: object;
  readonly policy?: string;
  readonly timing?: string;
}

/** Writes the configuration of one who has a chain of his own: its endpoint is in `HOME_RPC`. */
export function writeHome(folder: string, { world, mode, wallets, strategies, ...more }: Home): void {
  const { preset, policy = WIDE_POLICY, timing = "quoteLifetime: 20s, permitLifetime: 60s" } = more;
  mkdirSync(join(folder, "strategies"), { recursive: true });
  writeFileSync(join(folder, "network.json"), preset === undefined ? networkPresetOf(world) : JSON.stringify(preset));
  writeFileSync(join(folder, "policy.yaml"), policy);
  for (const [name, text] of Object.entries(strategies)) {
    writeFileSync(join(folder, "strategies", `${name}.yaml`), text);
  }
  const tokens = Object.entries(world.tokens).map(
    ([symbol, { address, decimals }]) => `  ${symbol}: { address: "${address}", decimals: ${decimals}, feed: preset }`,
  );
  writeFileSync(
    join(folder, "swapd.yaml"),
    `version: 1
mode: ${mode}
network: { name: homechain, rpc: [{ env: HOME_RPC }], preset: network.json, confirmations: 1 }
wallets: ${wallets}
tokens:
${tokens.join("\n")}
policy: policy.yaml
strategies: strategies
database: swapd.db
serve: { listen: 127.0.0.1:0 }
http: { listen: 127.0.0.1:0 }
timing: { ${timing} }
`,
  );
}
