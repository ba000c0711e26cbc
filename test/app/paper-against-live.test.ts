import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runHere } from "../e2e/support/run-here.ts";
import { runsOf } from "../support/budget-life.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { makeExampleHome } from "../support/example-file.ts";
import { openPaperLife } from "../support/paper-life.ts";

let home: ReturnType<typeof makeExampleHome>;
let folder: string;
let file: string;

beforeEach(() => {
  home = makeExampleHome();
  ({ folder, file } = home);
  home.write("live");
});

/** Fills of a hundred dollars each, at a thousand dollars for an ether, of which the market gives so much of the minimum. */
async function fill(open: typeof openLife, database: string, percents: readonly bigint[]): Promise<void> {
  const began = createOutside(SLOT_MS - 1_500, { gasless: "never", retryForSeconds: 20 });
  const outside: Outside = { ...began, file: join(folder, database) };
  const life = open(outside);
  await life.engine.start();
  for (const [index, percent] of percents.entries()) {
    outside.chain.ledger.rate = percent;
    const isDone = (): boolean => runsOf(life).filter(({ state }) => state === "filled").length > index;
    expect(await turnUntil(outside, life, { maxSeconds: 90, isDone })).toBe(true);
  }
  await turnUntil(outside, life, { maxSeconds: 15, isDone: () => false });
  await life.engine.stop();
  life.db.close();
}

const status = async (...more: string[]) => (await runHere(folder, ["status", ...more, "--config", file])).out;
const compared = async (): Promise<unknown> => JSON.parse(await status("--json")).paperAgainstLive;

test("status shows paper against live in basis points once both have fills, each median with its count", async () => {
  await fill(openLife, "swapd.db", [101n, 102n, 101n]);
  expect(await status()).not.toContain("paper fills");
  expect(await compared()).toBeNull();
  await fill(openPaperLife, "swapd.db.paper.db", [100n]);
  const sentence =
    /^live fills (\S+) bp .*median of 3\), paper fills (\S+) bp .*median of 1\): live is (\S+) bp apart/m;
  const found = sentence.exec(await status())?.slice(1);
  // The minimum is half a hundredth below the quote, which is the reference: 99.5 of a hundred, and 1.01 times that.
  expect(found).toEqual(["49.50", "-50.00", "99.50"]);
  expect(await compared()).toEqual({
    paper: { medianBps: "-50.00", fills: 1 },
    live: { medianBps: "49.50", fills: 3 },
    differenceBps: "99.50",
  });
  home.write("paper");
  expect(await compared(), "on paper there is nothing to compare with").toBeNull();
});
