import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { SandboxError } from "./sandbox-error.ts";

/**
 * Where "any free port" is looked for: below the range from which Linux takes the ports of outgoing connections, so that
 * none of those takes the port between this look and the start of the process that it is meant for.
 */
const ANY_PORT = { first: 20_000, last: 32_767, tries: 50 };

/**
 * Claims a loopback port for a moment and gives it back.
 * @param port 0 asks for any free one
 * @returns the port, free a moment ago
 * @throws SandboxError `PORT_IN_USE` when another process listens there
 */
export async function claimPort(port: number): Promise<number> {
  if (port !== 0) {
    if (await isFree(port)) return port;
    const message = `Port ${port} of 127.0.0.1 is in use. Stop what listens there, or choose another port (0 takes a free one).`;
    throw new SandboxError("PORT_IN_USE", message);
  }
  for (let tried = 0; tried < ANY_PORT.tries; tried += 1) {
    const candidate = randomInt(ANY_PORT.first, ANY_PORT.last + 1);
    if (await isFree(candidate)) return candidate;
  }
  const message = `${ANY_PORT.tries} ports of 127.0.0.1 from ${ANY_PORT.first} to ${ANY_PORT.last} are in use. Name a free one.`;
  throw new SandboxError("PORT_IN_USE", message);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      server.close((error) => (error === undefined ? resolve(true) : reject(error)));
    });
  });
}
