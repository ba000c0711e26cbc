import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/**
 * A way to the service on which all but the first submissions of gasless swaps are lost before they arrive: its relayer
 * takes no more than so many at a time, and a daemon must follow every one that it submitted, whatever became of it.
 */
export async function startLossyService(
  target: string,
  handedOver: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  let count = 0;
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isSubmission = request.url?.includes("/execute-swap") === true;
    if (isSubmission) count += 1;
    if (isSubmission && count > handedOver) {
      request.socket.destroy();
      return;
    }
    const { apikey } = request.headers;
    const headers = { "content-type": "application/json", ...(apikey === undefined ? {} : { apikey: String(apikey) }) };
    const body = request.method === "POST" ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(`${target}${request.url}`, { method: request.method ?? "GET", headers, ...body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  };
  const server = createServer((request, response) => {
    forward(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
