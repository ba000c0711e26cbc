import { claimPort } from "../sandbox/free-port.ts";
import { SandboxError } from "../sandbox/sandbox-error.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/** From the first port: chain, service, status. */
const PORT_OFFSETS = { service: 1, status: 2 };

/** What is started, from the first port on; 0 takes free ones. */
interface PortChoice {
  readonly port: number;
  readonly chainOnly?: boolean;
  readonly daemon: boolean;
}

/** Where the parts of a sandbox listen on loopback; 0 takes a free one. */
export interface Ports {
  readonly chain: number;
  readonly service: number;
  readonly status: number;
}

/** @throws CommandFailure 75 that names the port that is in use */
export async function choosePorts(options: PortChoice): Promise<Ports> {
  const first = options.port;
  if (first === 0) return { chain: await claimAnyPort(), service: 0, status: 0 };
  const ports = { chain: first, service: first + PORT_OFFSETS.service, status: first + PORT_OFFSETS.status };
  await claimFor("chain", ports.chain, first);
  if (options.chainOnly !== true) await claimFor("service", ports.service, first);
  if (options.chainOnly !== true && options.daemon) await claimFor("status server", ports.status, first);
  return ports;
}

async function claimAnyPort(): Promise<number> {
  try {
    return await claimPort(0);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CommandFailure(EXIT.tryAgain, error.message);
  }
}

/** @throws CommandFailure that names the port, what it is for, and the option that chose it */
async function claimFor(what: string, port: number, first: number): Promise<void> {
  try {
    await claimPort(port);
  } catch (error) {
    if (!(error instanceof SandboxError) || error.code !== "PORT_IN_USE") throw error;
    const chosen = `--port ${first} chose it for the ${what}`;
    throw new CommandFailure(EXIT.tryAgain, `${error.message} ${chosen}; what the last sandbox did stays readable.`);
  }
}
