import { expect, it } from "vitest";
import { lifeMinutesOf } from "./kill-harness.ts";
import { commandOf } from "./kill-world.ts";
import { atLatestAfter } from "./processes.ts";

it.each(["start", "serve"] as const)("lets what %s begins live as long as the campaign", (command) => {
  const lifeMinutes = lifeMinutesOf(200);
  const [name, , , flag, duration = ""] = commandOf(command, { configuration: "a.yaml", lifeMinutes });
  expect([name, flag]).toEqual([command, "--for"]);
  expect(Number.parseInt(duration, 10)).toBeGreaterThanOrEqual(lifeMinutes);
});

it("a limit on a life keeps nobody up once the campaign is done", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  void atLatestAfter(60_000);
  expect(timers()).toBe(before);
  await atLatestAfter(1);
});
