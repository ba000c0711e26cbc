import { expect, onTestFinished, test } from "vitest";
import { startSignerDouble } from "../support/signer-double/signer-double.ts";
import { missingPrograms } from "./support/monitoring.ts";
import { until } from "./support/swapd.ts";
import { call, dca, LONG, startWatched } from "./support/watched-daemon.ts";

// The faults of a daemon's own process, of its clock, its signer, its service's limit and its fills, each against the real
// programs. The waits of the rules are left out, as in the other file.

const missing = missingPrograms(["prometheus", "prometheus-alertmanager"]);

const LOST_TIMERS = new URL("support/lost-timers.ts", import.meta.url).href;
const SLOW_MS = 20_000;
const STRATEGIES = {
  // One whose fills are bad: somebody takes two hundredths of each.
  dear: `${dca('sell: "0.2 WETH"\nbuy: USDC\nschedule: { every: 4s }')}affiliate: { address: "0x000000000000000000000000000000000000dEaD", fee: 2% }\n`,
  slow: `${dca('sell: "50 DAI"\nbuy: WETH\nschedule: { every: 20s }')}catch_up: { policy: latest, window: 1h }\n`,
};

/**
 * Calls a service until it is told to stop, far above what it lets an address without a key call. The daemon asks again at the
 * start of a second, so that there have to be many.
 */
function crowd(url: string): () => Promise<void> {
  const stopping = new AbortController();
  const call = async (): Promise<void> => {
    const asked = fetch(`${url}/aggregator/quote`).then((answer) => answer.arrayBuffer());
    await asked.catch(() => undefined);
  };
  const callOn = async (): Promise<void> => {
    while (!stopping.signal.aborted) await call();
  };
  const callers = Promise.all(Array.from({ length: 16 }, callOn));
  return async () => {
    stopping.abort();
    await callers;
  };
}

test.skipIf(missing.length > 0)(
  "faults of a daemon itself, its clock, signer, service and fills fire their rules",
  { timeout: 600_000 },
  async () => {
    let signer: Awaited<ReturnType<typeof startSignerDouble>> | undefined;
    const { world, port, begin, swapd, told } = await startWatched({
      strategies: STRATEGIES,
      edit: {
        main: (text) => text.replace("\nserve:\n", "\nserve:\n  requestsPerSecond: { keyless: 20, keyed: 200 }\n"),
        policy: (text) => text.replace("tolerance: 3%", "tolerance: 6%"),
      },
      env: { NODE_OPTIONS: `--import=${LOST_TIMERS}` },
      between: async ({ chainId, wallet }) => {
        const double = await startSignerDouble({ chainId, keys: [wallet.privateKey] });
        onTestFinished(() => double.stop());
        signer = double;
        return { wallet: `{ signer: { url: "${double.url}", address: "${wallet.address}", timeout: 2s } }` };
      },
    });
    const daemon = begin();
    const fills = (): number => daemon.output().split("swap confirmed").length - 1;
    await until("it fills", { process: daemon, withinMs: 60_000 }, () => fills() >= 3);
    await told("firing", ["SwapdFillsBelowReference"]);
    // Its signer hangs.
    if (signer !== undefined) signer.misbehave = { before: () => new Promise(() => undefined) };
    await told("firing", ["SwapdSignerAway"]);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { signer: { away: ["main"] } }]);
    expect((await swapd("status")).out).toMatch(/^main is signed for by 127\.0\.0\.1:\d+, which has been away since /m);
    if (signer !== undefined) signer.misbehave = {};
    await told("resolved", ["SwapdSignerAway"]);
    // Somebody else uses up what the service lets this address call.
    const leave = crowd(world.serviceUrl);
    await told("firing", ["SwapdHeldBack"], { ...LONG, timeout: 180_000 });
    await leave();
    // A process that gets no time around the instant of a slot: its run begins late.
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS - 1_000 - (Date.now() % SLOW_MS)));
    daemon.process.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 14_000));
    daemon.process.kill("SIGCONT");
    await told("firing", ["SwapdSlotsLate"]);
    // The chain's time is two minutes ahead of this machine's clock, as behind a clock that is slow.
    await call(world.rpcUrl, "evm_increaseTime", 120);
    await told("firing", ["SwapdClockSkewed"]);
    // No timer of the process runs out any more: it answers, and looks at no slot.
    daemon.process.kill("SIGUSR2");
    await told("firing", ["SwapdUnhealthy", "SwapdNotTicking"]);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(503);
  },
);
