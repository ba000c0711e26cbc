import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type * as builders from "../../test/support/builders.ts";
import type * as lives from "../../test/support/engine-life.ts";

/**
 * Lets the engine of a source tree trade in an imagined world, where time and chain cost next to nothing, on a real
 * database: self-executed swaps, then gasless ones. Prints how many are final, and the processor time of all of that.
 *
 * `life-main.ts <folder of the tree> <seconds of that world>`
 */
const [root = ".", seconds = "600"] = process.argv.slice(2);
const EVERY_SECONDS = 20;
const WARM_UP_SECONDS = 120;

/** No test runs here that could end: what is to be done then is done at the end of the process. */
const VITEST = "data:text/javascript,export const onTestFinished = (clean) => void process.once('exit', clean)";
registerHooks({
  resolve: (name, context, next) => (name === "vitest" ? { url: VITEST, shortCircuit: true } : next(name, context)),
});
process.setMaxListeners(0);

async function load<T>(file: string): Promise<T> {
  return (await import(pathToFileURL(resolve(root, "test/support", file)).href)) as T;
}

const { SLOT_MS, HUNDRED_USDC, USDC } = await load<typeof builders>("builders.ts");
const { ACCOUNT, createOutside, openLife, turn } = await load<typeof lives>("engine-life.ts");

async function trade(gasless: "never" | "prefer", forSeconds: number): Promise<number> {
  const outside = createOutside(SLOT_MS - 1_500, { gasless, schedule: { kind: "every", seconds: EVERY_SECONDS } });
  outside.chain.ledger.credit(USDC.address, ACCOUNT, 1_000n * HUNDRED_USDC);
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, forSeconds);
  if (life.errors.length > 0) throw life.errors[0];
  const swaps = life.db.prepare<[], number>("SELECT count(*) FROM swaps WHERE state = 'final'").pluck().get() ?? 0;
  life.kill();
  return swaps;
}

await trade("never", WARM_UP_SECONDS);
await trade("prefer", WARM_UP_SECONDS);
const began = process.cpuUsage();
const swaps = (await trade("never", Number(seconds))) + (await trade("prefer", Number(seconds)));
const { user, system } = process.cpuUsage(began);
console.log(JSON.stringify({ swaps, cpuMs: Math.round((user + system) / 1_000) }));
process.exit(0);
