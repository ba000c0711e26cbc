import { expect, it } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { thisMachine } from "../../src/app/machine.ts";
import { meteredLimiter, meteredMachine } from "../../src/app/metered.ts";
import { FetchError } from "../../src/net/bounded-fetch.ts";
import type { Meter } from "../../src/ports/meter.ts";

const request = { url: "https://user:secret@node.example/v3/SECRETKEY", timeoutMs: 1_000, maxBytes: 10 };

function counted(fetch: ReturnType<typeof thisMachine>["fetch"]) {
  const seen: Parameters<Meter["requested"]>[0][] = [];
  const meter = { requested: (one: (typeof seen)[number]) => void seen.push(one) } as Meter;
  return { seen, machine: meteredMachine({ ...thisMachine(), fetch }, meter, "node") };
}

it.each([
  [200, "2xx"],
  [429, "429"],
  [404, "4xx"],
  [503, "5xx"],
])("counts an answer with %i as %s, by the host alone", async (status, result) => {
  const { seen, machine } = counted(async () => ({ status, text: "", header: () => null }));
  await machine.fetch(request);
  expect(seen).toEqual([{ to: "node", host: "node.example", result, ms: expect.any(Number) }]);
});

it("counts what had no answer by why, and passes the error on as it is", async () => {
  const error = new FetchError("too large", "node.example", "more than 10 bytes");
  const { seen, machine } = counted(() => Promise.reject(error));
  await expect(machine.fetch(request)).rejects.toBe(error);
  expect(seen).toMatchObject([{ result: "too_large" }]);
});

it("counts how long a call waited for its turn", async () => {
  const waits: number[] = [];
  const meter = { waited: ({ ms }: { ms: number }) => void waits.push(ms) } as unknown as Meter;
  const limiter = {
    acquire: async () => {
      await systemClock.sleep(30);
      return "granted" as const;
    },
    observe: () => undefined,
  };
  const metered = meteredLimiter(limiter, { meter, clock: systemClock, host: "service.example" });
  expect(await metered.acquire("quote")).toBe("granted");
  expect(waits[0]).toBeGreaterThanOrEqual(25);
});
