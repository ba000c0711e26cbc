import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { expect, it } from "vitest";
import { claimPort } from "../../src/sandbox/free-port.ts";

/** Where Linux says from which ports outgoing connections are given theirs. */
const OUTGOING = "/proc/sys/net/ipv4/ip_local_port_range";

it("finds any free port where no outgoing connection can take it before it is used", async () => {
  const firstOutgoing = existsSync(OUTGOING) ? Number(readFileSync(OUTGOING, "utf8").split(/\s+/)[0]) : 32_768;
  for (let round = 0; round < 20; round += 1) {
    const port = await claimPort(0);
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(firstOutgoing);
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
    await new Promise((resolve) => server.close(resolve));
  }
});
