import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { BareMachine } from "./bare-machine.ts";

/** Where the README lets a reader keep what is his. */
const OWN_FOLDER = "swapd";
const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
const TRANSFER = "0xa9059cbb";

const worldSchema = z.object({
  rpcUrl: z.string(),
  settlement: z.string(),
  tokens: z.record(z.string(), z.object({ address: z.string(), decimals: z.number() })),
  wallet: z.object({ address: z.string() }),
});

/** The network that a reader would have an account at: here a local chain with the service's contracts, no daemon. */
export interface Network {
  readonly world: z.output<typeof worldSchema>;
  /** asks it to stop; resolves with its exit code, null when it had to be killed */
  stop(): Promise<number | null>;
}

/** Starts the network in the clone, on free ports. */
export async function startNetwork(machine: BareMachine): Promise<Network> {
  const child = spawn("node", ["bin/swapd.js", "sandbox", "--no-daemon", "--json", "--port", "0"], {
    cwd: machine.clone,
    env: machine.env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const line = await firstLine(child);
  return {
    world: worldSchema.parse(JSON.parse(line)),
    stop: async () => {
      child.kill("SIGTERM");
      const limit = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
      const code = await ended;
      clearTimeout(limit);
      return code;
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  return await new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error("the network is not up after a minute")), READY_WITHIN_MS);
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end < 0) return;
      clearTimeout(limit);
      resolve(text.slice(0, end));
    });
    child.once("close", (code) => reject(new Error(`the network ended with ${code} before it was up`)));
  });
}

/** What a reader does by hand in the steps of "Trade for real". */
export interface Person {
  choosePassword(): void;
  keepKey(privateKey: string): void;
  /** writes into the copied example what belongs to his machine and network */
  fillIn(network: Network): void;
  fund(address: string, network: Network): Promise<void>;
  goLive(): void;
  /** puts everything of his away, for the next reader */
  startOver(): void;
}

export function createPerson(machine: BareMachine): Person {
  const own = (name: string): string => join(machine.home, OWN_FOLDER, name);
  const edit = (name: string, changes: Readonly<Record<string, string>>): void => {
    let text = readFileSync(own(name), "utf8");
    for (const [from, to] of Object.entries(changes)) {
      if (!text.includes(from)) throw new Error(`${name} has no ${JSON.stringify(from)} for a reader to change`);
      text = text.replace(from, () => to);
    }
    writeFileSync(own(name), text);
  };
  return {
    choosePassword: () => writeFileSync(own("wallet.pass"), "a password of my own\n", { mode: 0o600 }),
    keepKey: (privateKey) => writeFileSync(own("key"), `${privateKey}\n`, { mode: 0o600 }),
    fillIn: ({ world }) => {
      const preset = join(machine.clone, ".swapd/sandbox/network.json");
      edit("swapd.yaml", {
        "name: base, rpc": `name: sandbox, preset: ${JSON.stringify(preset)}, rpc`,
        "confirmations: 3": "confirmations: 1",
        "url: embedded": `url: embedded, settlement: "${world.settlement}"`,
        "/run/secrets/wallet.json": "wallet.json",
        "/run/secrets/wallet.pass": "wallet.pass",
        "/data/swapd.db": "swapd.db",
        "/data/service.db": "service.db",
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913": world.tokens.USDC?.address ?? "",
        "0x4200000000000000000000000000000000000006": world.tokens.WETH?.address ?? "",
      });
      // Monday at nine is too far away for a test.
      edit("strategies/weekly-eth.yaml", { '{ at: "Mon 09:00", timezone: Europe/Berlin }': "{ every: 5s }" });
    },
    fund: async (address, network) => {
      const { rpcUrl, wallet, tokens } = network.world;
      const give = async (token: string, amount: bigint): Promise<void> => {
        const data = `${TRANSFER}${word(BigInt(address))}${word(amount)}`;
        await rpc(rpcUrl, "eth_sendTransaction", [{ from: wallet.address, to: tokens[token]?.address, data }]);
      };
      await rpc(rpcUrl, "anvil_setBalance", [address, `0x${(10n ** 18n).toString(16)}`]);
      await rpc(rpcUrl, "anvil_impersonateAccount", [wallet.address]);
      await give("USDC", 900n * 10n ** 6n);
      await rpc(rpcUrl, "anvil_stopImpersonatingAccount", [wallet.address]);
    },
    goLive: () => edit("swapd.yaml", { "mode: dry-run": "mode: live" }),
    startOver: () => rmSync(own("."), { recursive: true, force: true }),
  };
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}

async function rpc(url: string, method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
  const { error } = z.object({ error: z.object({ message: z.string() }).optional() }).parse(await answer.json());
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
}
