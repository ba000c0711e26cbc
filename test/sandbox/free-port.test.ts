import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
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

/** Four neighbours that nobody uses, and what claiming four at once gave. */
async function claimNeighbours() {
  for (;;) {
    const first = randomInt(10_000, 20_000);
    const range = { first, last: first + 3, tries: 200 };
    const ports = await Promise.all(Array.from({ length: 4 }, () => claimPort(0, range))).catch(() => undefined);
    if (ports !== undefined) return { range, ports };
  }
}

it("gives no port twice, though nothing listens there yet, neither here nor to another process", async () => {
  const { range, ports } = await claimNeighbours();
  expect(new Set(ports).size).toBe(4);
  const refused = { code: "PORT_IN_USE", message: expect.stringContaining(`from ${range.first} to ${range.last}`) };
  await expect(claimPort(0, range)).rejects.toMatchObject(refused);
  const module = new URL("../../src/sandbox/free-port.ts", import.meta.url).href;
  const script = `const { claimPort } = await import("${module}"); console.log(await claimPort(0, ${JSON.stringify(range)}).catch((error) => error.code));`;
  const said = execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect(said.trim()).toBe("PORT_IN_USE");
});
