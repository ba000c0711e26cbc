import { createServer } from "node:net";
import { SandboxError } from "./sandbox-error.ts";

/**
 * Claims a loopback port for a moment and gives it back.
 * @param port 0 asks for any free one
 * @returns the port, free a moment ago
 * @throws SandboxError `PORT_IN_USE` when another process listens there
 */
export function claimPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") return reject(error);
      const message = `Port ${port} of 127.0.0.1 is in use. Stop what listens there, or choose another port (0 takes a free one).`;
      return reject(new SandboxError("PORT_IN_USE", message, { cause: error }));
    });
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      const claimed = address !== null && typeof address === "object" ? address.port : port;
      server.close((error) => (error === undefined ? resolve(claimed) : reject(error)));
    });
  });
}
