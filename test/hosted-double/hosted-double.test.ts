import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Wallet } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { flyProfile } from "../../src/adapters/swap-service/fly/service.ts";
import { type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { QuoteRequest } from "../../src/ports/swap-service.ts";
import { compileRouter, readRouterArtifact } from "../support/hosted-double/compile-router.ts";
import { startHostedDouble } from "../support/hosted-double/hosted-double.ts";
import { DoubleFixture, doubleWorldOf, serviceAt } from "./double-fixture.ts";

const AFFILIATE = toAddress(`0x${"a1".repeat(20)}`);
const STRANGER = toAddress(`0x${"b2".repeat(20)}`);
const EXECUTED_WITHIN_MS = 15_000;

let world: DoubleFixture;

beforeAll(async () => {
  world = await DoubleFixture.open();
});

afterAll(() => world?.close());

describe("the router of the double", () => {
  it("is the one that its source compiles to", { timeout: 60_000 }, () => {
    expect(readRouterArtifact()).toEqual(compileRouter());
  });
});

describe("a self-executed swap through the double", () => {
  it.each([
    ["USDC", "WETH", 1_000_000_000n, false],
    ["USDC", "ETH", 1_000_000_000n, true],
    ["ETH", "USDC", 10n ** 17n, true],
  ] as const)("sells %s for %s as its calldata, read by our decoder, says", async (sell, buy, amount, affiliate) => {
    const request: QuoteRequest = {
      ...world.request(sell, buy, amount),
      recipient: STRANGER,
      affiliate: affiliate ? { address: AFFILIATE, fee: toPpm(10_000) } : undefined,
    };
    const quote = await world.quote(request);
    const transaction = await world.service.transaction(quote.id);
    if ("kind" in transaction) throw new Error(transaction.message);
    const decoding = flyProfile.decodeTransaction(transaction, world.pinned);
    if (!decoding.ok) throw new Error(decoding.problem);
    expect(decoding.swap).toMatchObject({
      recipient: STRANGER,
      fromAsset: request.sell.address,
      toAsset: request.buy.address,
      swapFee: 0n,
      affiliate: affiliate ? { address: AFFILIATE, fee: amount / 100n } : undefined,
      permitValue: undefined,
    });
    expect(decoding.swap.amountIn + (decoding.swap.affiliate?.fee ?? 0n)).toBe(amount);
    if (sell !== "ETH") {
      await world.approve(request.sell.address, amount);
    }
    const before = await world.balance(request.buy.address, STRANGER);
    // The double's router pays an affiliate of a native sale in the wrapped token.
    const paid = sell === "ETH" ? world.pinned.wrappedNative : request.sell.address;
    const affiliateBefore = await world.balance(paid, AFFILIATE);
    const { to, data, value } = transaction;
    // A V2 pair writes more in the first swap of a second, so an estimate of now can be too little for the next block.
    await (await world.wallet.sendTransaction({ to, data, value, gasLimit: 400_000n })).wait();
    expect((await world.balance(request.buy.address, STRANGER)) - before).toBe(quote.amountOut);
    expect((await world.balance(paid, AFFILIATE)) - affiliateBefore).toBe(affiliate ? amount / 100n : 0n);
  });
});

describe("a gasless swap through the double", () => {
  const gross = 500_000_000n;

  it("takes exactly the gross amount, pays the relayer and the affiliate, and the owner pays no gas", async () => {
    const request: QuoteRequest = {
      ...world.request("USDC", "WETH", gross),
      gasless: true,
      affiliate: { address: AFFILIATE, fee: toPpm(5_000) },
    };
    const quote = await world.quote(request);
    const usdc = request.sell.address;
    const { swap, submission } = await world.signGasless(quote, usdc, gross);
    const accounts = [world.owner, world.double.relayer, AFFILIATE];
    const before = await Promise.all(accounts.map((account) => world.balance(usdc, account)));
    const bought = await world.balance(request.buy.address, world.owner);
    const native = await world.balance(NATIVE_TOKEN, world.owner);
    expect(await world.service.executeSwap(submission, async () => undefined)).toMatchObject({ kind: "accepted" });
    expect(await world.settled(quote.id)).toBe("success");
    const after = await Promise.all(accounts.map((account) => world.balance(usdc, account)));
    expect(after.map((value, index) => value - (before[index] ?? 0n))).toEqual([-gross, swap.swapFee, gross / 200n]);
    expect((await world.balance(request.buy.address, world.owner)) - bought).toBe(quote.amountOut);
    expect(await world.balance(NATIVE_TOKEN, world.owner)).toBe(native);
    expect(await world.service.statusCounts(world.owner)).toMatchObject({ success: 1, error: 0 });
  });

  it("can be executed twice by one signature while the allowance lasts, as there is no nonce", async () => {
    const request = { ...world.request("USDC", "WETH", gross), gasless: true };
    await world.approve(request.sell.address, gross * 2n);
    const quote = await world.quote({ ...request, slippage: toPpm(50_000) });
    const { submission } = await world.signGasless(quote, request.sell.address, gross);
    const withoutPermit = { ...submission, permitSignature: undefined, permitDeadlineSeconds: undefined };
    const before = await world.balance(request.sell.address, world.owner);
    for (let time = 0; time < 2; time++) {
      await world.service.executeSwap(withoutPermit, async () => undefined);
      expect(await world.settled(quote.id)).toBe("success");
    }
    expect(before - (await world.balance(request.sell.address, world.owner))).toBe(gross * 2n);
    await world.service.executeSwap(withoutPermit, async () => undefined);
    expect(await world.settled(quote.id)).toBe("error");
  });

  it("refuses a signature of somebody else", async () => {
    const quote = await world.quote({ ...world.request("USDC", "WETH", gross), gasless: true });
    const swapSignature = (await Wallet.createRandom().signMessage("x")) as Hex;
    const outcome = await world.service.executeSwap(
      {
        quoteId: quote.id,
        swapSignature,
        permitSignature: undefined,
        permitDeadlineSeconds: undefined,
      },
      async () => undefined,
    );
    expect(outcome).toMatchObject({ kind: "unknown" });
  });

  it.each([
    ["lose-before", "unknown", false],
    ["lose-after", "unknown", true],
    ["report-error", "unknown", true],
    ["error-after-accept", "unknown", true],
    ["late", "accepted", true],
  ] as const)("with the fault %s answers so that we say %s", async (fault, kind, executed) => {
    world.double.faults.set([fault]);
    const request = { ...world.request("USDC", "WETH", gross), gasless: true };
    const quote = await world.quote(request);
    const { submission } = await world.signGasless(quote, request.sell.address, gross);
    const before = await world.balance(request.sell.address, world.owner);
    expect(await world.service.executeSwap(submission, async () => undefined)).toMatchObject({ kind });
    if (fault === "late") expect(before - (await world.balance(request.sell.address, world.owner))).toBe(0n);
    const outflow = async (): Promise<bigint> => before - (await world.balance(request.sell.address, world.owner));
    // What comes is waited for; what must not come gets the time in which the others come on a machine at rest.
    if (executed) await expect.poll(outflow, { timeout: EXECUTED_WITHIN_MS }).toBe(gross);
    await systemClock.sleep(executed ? 0 : 1_200);
    expect(await outflow()).toBe(executed ? gross : 0n);
  });
});

describe("the double as a process", () => {
  it("prints one line when it is ready, takes faults over HTTP, and goes when its parent goes", async () => {
    const main = fileURLToPath(new URL("../support/hosted-double/main.ts", import.meta.url));
    const child = spawn(process.execPath, [main, JSON.stringify(doubleWorldOf(world.sandbox))], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const ready = JSON.parse(line) as { url: string; router: string };
    expect(ready).toMatchObject({ url: expect.stringMatching(/^http/), router: expect.stringMatching(/^0x/) });
    const control = await fetch(`${ready.url}/control/faults`, {
      method: "POST",
      body: JSON.stringify({ faults: ["lose-after"], repeat: true }),
    });
    expect(control.status).toBe(200);
    const quote = await serviceAt(ready.url).quote(world.request("WETH", "USDC", 10n ** 18n));
    expect(quote).toMatchObject({ targetAddress: ready.router, typedData: { primaryType: "Swap" } });
    child.stdin.end();
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });

  it("limits like the hosted gateway, with its headers", async () => {
    const limited = await startHostedDouble({
      ...doubleWorldOf(world.sandbox),
      limits: { keyless: 2, keyed: 5, keys: ["known"] },
    });
    try {
      const calls = await withinOneSecond(() =>
        Promise.all(
          [1, 2, 3].map(() => fetch(`${limited.url}/user-manager/status-counts?walletAddress=${world.owner}`)),
        ),
      );
      expect(calls.map((call) => call.status).sort()).toEqual([200, 200, 429]);
      const refusal = calls.find((call) => call.status === 429);
      expect(refusal?.headers.get("retry-after")).toBe("1");
      expect(refusal?.headers.get("x-ratelimit-limit-second")).toBe("2");
      const keyed = await fetch(`${limited.url}/user-manager/status-counts`, { headers: { apikey: "known" } });
      expect(keyed.headers.get("ratelimit-limit")).toBe("5");
      expect(keyed.headers.get("ratelimit-remaining")).toBe("4");
    } finally {
      await limited.stop();
    }
  });
});

/** Asks from the start of a second on, and again in another one while the answers come after its end. */
async function withinOneSecond<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    await systemClock.sleep(1_000 - (Date.now() % 1_000) + 20);
    const second = Math.floor(Date.now() / 1_000);
    const answers = await ask();
    if (Math.floor(Date.now() / 1_000) === second) return answers;
  }
}
