import { expect, test } from "vitest";
import { createReadModel } from "../../src/adapters/sqlite/daemon/read-model.ts";
import { explain } from "../../src/app/commands/why.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";

test("why a swap was refused before any check of it is said with its cause", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  outside.service.refuses = refusal("TOKEN_FROZEN", false);
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 15);
  const slot = await createReadModel(life.db).slotBefore({ strategy: "weekly", atMs: outside.clock.nowMs() });
  const { text } = explain(slot, { strategy: "weekly", atMs: outside.clock.nowMs(), nativeSymbol: "ETH" });
  expect(text).toContain("skipped, quote_refused: TOKEN_FROZEN");
});
