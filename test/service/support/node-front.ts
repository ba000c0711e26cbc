import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What stands where a node's endpoint is expected. */
export interface NodeFront {
  readonly url: string;
  stop(): Promise<void>;
}

/** Answers every HTTP request by its body; where that fails the connection is cut. */
export async function startNodeFront(answer: (body: string) => Promise<string>): Promise<NodeFront> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      answer(Buffer.concat(chunks).toString()).then(
        (body) => response.writeHead(200, { "content-type": "application/json" }).end(body),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
