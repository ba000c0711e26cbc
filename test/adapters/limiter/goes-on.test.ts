import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { migrate, readMigrations } from "../../../src/storage/migrations.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

const SECOND = 1_000_000;
const DAY_MS = 86_400_000;
const MIGRATIONS = new URL("../../../src/adapters/limiter/migrations/", import.meta.url);

interface Life {
  readonly file: string;
  readonly time: VirtualTime;
  readonly limitPerSecond?: number;
  readonly bootId?: string;
}

function openLimiter({ file, time, limitPerSecond = 50, bootId = "boot" }: Life) {
  const options = { file, baseUrl: "http://127.0.0.1:1/", apiKey: undefined, limitPerSecond, maxQueue: 100 };
  const limiter = createRateLimiter(
    { ...options, longestRetryAfterMs: DAY_MS, longestWaitMs: 120_000 },
    { clock: time.clock, sharedClock: time.shared(bootId), logger: silentLogger() },
  );
  onTestFinished(() => limiter.close());
  return limiter;
}

const refusal = (retryAfter?: number) => ({
  status: 429,
  header: (name: string) => (name === "retry-after" && retryAfter !== undefined ? String(retryAfter) : null),
});

/** How many of so many calls are let go within some seconds. */
async function grantsWithin(limiter: ReturnType<typeof openLimiter>, time: VirtualTime, seconds: number) {
  let granted = 0;
  for (let call = 0; call < 20; call++)
    void limiter.acquire("quote").then((word) => void (word === "granted" && granted++));
  await time.runUntil(time.nowUs() + seconds * SECOND);
  return granted;
}

describe("after a refusal", () => {
  it("calls go on when the process that made the next one was killed, also for calls that were waiting", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const first = openLimiter(life);
    first.observe(refusal());
    const probe = first.acquire("quote");
    await life.time.runUntil(life.time.nowUs() + 3 * SECOND);
    expect(await probe).toBe("granted");
    first.close();
    expect(await grantsWithin(openLimiter(life), life.time, 15)).toBeGreaterThanOrEqual(2);
  });

  it("calls go on at their rate when the answer of the next one is lost", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const limiter = openLimiter(life);
    limiter.observe(refusal());
    const probe = limiter.acquire("quote");
    await life.time.runUntil(life.time.nowUs() + 2 * SECOND);
    expect(await probe).toBe("granted");
    limiter.observe("lost");
    expect(await grantsWithin(limiter, life.time, 1)).toBe(20);
  });

  it("calls that may not leave any more take no turn: the next one goes ahead in their place", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const limiter = openLimiter(life);
    limiter.observe(refusal());
    const held = { heldBack: async () => "halted by ops" };
    const orders = [limiter.acquire("status", held), limiter.acquire("status", held)];
    const quote = limiter.acquire("quote");
    await life.time.runUntil(life.time.nowUs() + 2 * SECOND);
    expect(await Promise.all(orders)).toEqual([{ heldBack: "halted by ops" }, { heldBack: "halted by ops" }]);
    expect(await Promise.race([quote, Promise.resolve("still waiting")])).toBe("granted");
  });

  it("a call that ends while it is asked whether it may leave holds back nobody else", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const abort = new AbortController();
    const limiter = openLimiter(life);
    const heldBack = async (): Promise<string> => {
      abort.abort();
      return "halted by ops";
    };
    const order = limiter.acquire("status", { heldBack, signal: abort.signal });
    const quote = limiter.acquire("quote");
    await life.time.runUntil(life.time.nowUs() + 2 * SECOND);
    expect([await order, await quote]).toEqual(["aborted", "granted"]);
  });

  it("a call of which nobody can say whether it may leave takes its turn: who makes it asks again", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const heldBack = async (): Promise<never> => {
      throw new Error("the disk is full");
    };
    const call = openLimiter(life).acquire("status", { heldBack });
    await life.time.runUntil(life.time.nowUs() + 2 * SECOND);
    expect(await call).toBe("granted");
  });

  it("a wait of hours is kept to, over a restart too, and no longer", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const first = openLimiter(life);
    first.observe(refusal(7_200));
    first.close();
    const second = openLimiter(life);
    await life.time.runUntil(life.time.nowUs() + 7_190 * SECOND);
    let granted = false;
    void second.acquire("status").then((word) => {
      granted = word === "granted";
    });
    await life.time.runUntil(life.time.nowUs() + 5 * SECOND);
    expect(granted).toBe(false);
    await life.time.runUntil(life.time.nowUs() + 10 * SECOND);
    expect(granted).toBe(true);
  });

  it("after a reboot a stated wait is forgotten, and calls go on at their rate", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const first = openLimiter(life);
    first.observe(refusal(7_200));
    first.close();
    const second = openLimiter({ ...life, bootId: "another boot" });
    expect(await grantsWithin(second, life.time, 2)).toBe(20);
  });

  it("a call that waits longer than it may ends with what it waited for", async () => {
    const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
    const limiter = openLimiter(life);
    limiter.observe(refusal(7_200));
    const call = limiter.acquire("status");
    await life.time.runUntil(life.time.nowUs() + 122 * SECOND);
    const until = new Date(life.time.clock.nowMs() + 7_078_000).toISOString().slice(0, 16);
    expect(await call).toMatchObject({
      waitedFor: expect.stringContaining(`the service, which asked for no calls until ${until}`),
    });
  });
});

it("takes a file of the first release over, whose awaited call would never be answered", async () => {
  const life = { file: join(temporaryDirectory(), "limiter.db"), time: new VirtualTime() };
  const db = openDatabase({ file: life.file });
  migrate(db, { set: "pace", migrations: readMigrations(MIGRATIONS).slice(0, 1), backup: false });
  db.prepare("INSERT INTO pace VALUES ('any', 'boot', ?, 0, 'sent', ?, 50.0, 0, NULL)").run(
    life.time.nowUs() + 600 * SECOND,
    life.time.nowUs() + 600 * SECOND,
  );
  db.close();
  expect(await grantsWithin(openLimiter(life), life.time, 3)).toBe(20);
});
