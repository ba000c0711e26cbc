import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Starts a server that says anything, also what is no HTTP; `connection` counts from 0. It is closed when the running
 * test ends.
 */
export async function startRawServer(
  handle: (socket: Socket, connection: number) => void,
): Promise<{ readonly url: string; readonly open: ReadonlySet<Socket> }> {
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    handle(socket, connections);
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return { url: `http://127.0.0.1:${address.port}/`, open };
}
