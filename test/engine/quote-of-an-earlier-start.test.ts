import { expect, test } from "vitest";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";
import { FakeService } from "../support/fake-service.ts";

test.each(["never", "only"] as const)(
  "a start that finds a quote which its own service knows no more asks for a fresh one (gasless: %s)",
  async (gasless) => {
    const outside = createOutside(SLOT_MS - 1_500, { gasless });
    const first = openLife(outside, { killAt: (label) => label === "effect.ReadFacts.before" });
    await first.engine.start();
    await turn(outside, first, 6);
    expect(first.isDead()).toBe(true);
    first.kill();
    // The embedded service starts with the daemon, and keeps quotes in memory.
    const service = new FakeService(outside.clock, outside.chain);
    const second = openLife(outside, { seenBy: () => ({ chain: outside.chain, service }) });
    await second.engine.start();
    await turn(outside, second, 40);
    expect(second.db.prepare("SELECT state FROM runs").pluck().get()).toBe("filled");
  },
);
