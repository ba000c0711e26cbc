import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { SandboxError } from "./sandbox-error.ts";

/**
 * Where "any free port" is searched for: below the range from which Linux takes the ports of outgoing connections, so
 * that none of those takes the port between this check and the start of the process that it is meant for.
 */
const ANY_PORT = { first: 20_000, last: 32_767, tries: 50 };

/**
 * Claims a loopback port for a moment and gives it back.
 * @param port 0 asks for any free one, which no other call, of this process or another one, gets while this one lives
 * @param range where a free one is searched for, and how often
 * @returns the port, free a moment ago
 * @throws SandboxError `PORT_IN_USE` when another process listens there
 */
export async function claimPort(port: number, range = ANY_PORT): Promise<number> {
  if (port !== 0) {
    if (await isFree(port)) return port;
    const message = `Port ${port} of 127.0.0.1 is in use. Stop what listens there, or choose another port (0 takes a free one).`;
    throw new SandboxError("PORT_IN_USE", message);
  }
  for (let tried = 0; tried < range.tries; tried += 1) {
    const candidate = randomInt(range.first, range.last + 1);
    if ((await reserve(candidate)) && (await isFree(candidate))) return candidate;
  }
  const message = `${range.tries} ports of 127.0.0.1 from ${range.first} to ${range.last} are in use. Name a free one.`;
  throw new SandboxError("PORT_IN_USE", message);
}

/**
 * Takes the UDP port of the same number, which is not used here, until this process ends. Else another process that
 * looks for a port before the node listens gets the same one, and takes that node for its own.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createSocket("udp4");
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.close();
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      socket.unref();
      resolve(true);
    });
  });
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
