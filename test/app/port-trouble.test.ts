import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { portTrouble } from "../../src/app/port-trouble.ts";

const PLACE = "/home/me/swapd.yaml";

function listen(port: number, host = "127.0.0.1"): Promise<{ port: number; error: unknown }> {
  return new Promise((resolve) => {
    const server = createServer();
    onTestFinished(() => void server.close());
    server.once("error", (error) => resolve({ port, error }));
    server.listen(port, host, () => {
      const address = server.address();
      resolve({ port: address !== null && typeof address === "object" ? address.port : port, error: undefined });
    });
  });
}

it("a port that another process has is said with its key, its file and what to do", async () => {
  const { port } = await listen(0);
  const { error } = await listen(port);
  const listening = [
    { key: "http.listen", listen: { host: "127.0.0.1", port: 9_464 } },
    { key: "serve.listen", listen: { host: "127.0.0.1", port } },
  ];
  expect(portTrouble(error, listening, PLACE)).toBe(
    `serve.listen: another process listens on 127.0.0.1:${port}: stop that one, or write another port for serve.listen in ${PLACE}`,
  );
});

it("two keys with one port are no other process's fault", async () => {
  const { port } = await listen(0);
  const { error } = await listen(port);
  const listening = ["http.listen", "serve.listen"].map((key) => ({ key, listen: { host: "127.0.0.1", port } }));
  expect(portTrouble(error, listening, PLACE)).toBe(
    `http.listen and serve.listen are both port ${port}: give each a port of its own in ${PLACE}`,
  );
});

it("an address that this machine does not have is named, and another error is not taken for a port's", async () => {
  const { error } = await listen(9_464, "203.0.113.7");
  const listening = [{ key: "http.listen", listen: { host: "203.0.113.7", port: 9_464 } }];
  expect(portTrouble(error, listening, PLACE)).toContain("http.listen: this machine has no address 203.0.113.7");
  expect(portTrouble(Object.assign(new Error("no"), { code: "EADDRINUSE" }), listening, PLACE)).toBeUndefined();
});
