import { computeAddress, getAddress } from "ethers";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSigner } from "../../../src/adapters/keys/signer.ts";
import { createProposer } from "../../../src/adapters/proposals/proposer.ts";
import { delegationOf } from "../../../src/adapters/proposals/transaction-service/delegation.ts";
import {
  createTransactionServiceCalls,
  type TransactionServiceCalls,
} from "../../../src/adapters/proposals/transaction-service/service-calls.ts";
import { createTransactionService } from "../../../src/adapters/proposals/transaction-service/transaction-service.ts";
import { digestOf } from "../../../src/app/encoding.ts";
import { proposedCalls, safeTypedData } from "../../../src/domain/guard/safe-transaction.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { LimitedAnswer, RateLimiter } from "../../../src/ports/rate-limiter.ts";
import type { PublishedProposal, Treasury } from "../../../src/ports/treasury.ts";
import { HUNDRED_USDC, ROUTER, USDC } from "../../support/builders.ts";
import {
  startTransactionServiceDouble,
  type TransactionServiceDouble,
} from "../../support/proposal-double/transaction-service-double.ts";

const SAFE = toAddress(`0x${"5afe".repeat(10)}`);
const CHAIN_ID = 31_337;
const OWNER = getAddress(computeAddress(`0x${"21".repeat(32)}`));
const signer = createSigner(new Secret(`0x${"de".repeat(32)}`));
const DELEGATE = getAddress(signer.address);
const proposer = createProposer(signer, { safe: SAFE, chainId: CHAIN_ID });

interface World {
  readonly double: TransactionServiceDouble;
  readonly calls: TransactionServiceCalls;
  readonly treasury: Treasury;
  readonly observed: (LimitedAnswer | "lost")[];
}

async function open({ apiKey, nonce = 4n }: { apiKey?: string; nonce?: bigint } = {}): Promise<World> {
  const safe = { chainId: CHAIN_ID, address: getAddress(SAFE), owners: [OWNER], nonce: () => nonce };
  const double = await startTransactionServiceDouble(safe);
  onTestFinished(() => double.stop());
  double.delegates.set(DELEGATE, OWNER);
  const observed: World["observed"] = [];
  const limiter: RateLimiter = { acquire: async () => "granted", observe: (answer) => void observed.push(answer) };
  const key = apiKey === undefined ? undefined : new Secret(apiKey);
  const options = { url: double.url, apiKey: key, timeoutMs: 300, maxBytes: 1_000_000 };
  const calls = createTransactionServiceCalls(options, { limiter });
  return { double, calls, observed, treasury: createTransactionService({ safe: SAFE, proposer }, calls) };
}

async function proposal(nonce = 4n, purpose = "weekly: sell 100 USDC"): Promise<PublishedProposal> {
  const swap = { to: ROUTER, value: 0n, data: "0x12345678" } as const;
  const of = { safe: SAFE, place: "run_1.0", token: USDC.address, spender: ROUTER, gross: HUNDRED_USDC };
  const calls = proposedCalls({ ...of, isAllowed: false, swap });
  const built = safeTypedData({ chainId: CHAIN_ID, safe: SAFE, version: "1.4.1", nonce, calls });
  // As it is read back out of its row.
  const typedData = JSON.parse(JSON.stringify(built)) as typeof built;
  return {
    ...{ swapId: "run_1.0.1", safe: SAFE, chainId: CHAIN_ID, typedData, hash: digestOf(typedData), nonce, calls },
    ...{ deadlineSeconds: 1_700_000_000, purpose, signature: await proposer.signTypedData(typedData) },
  };
}

describe("a proposal by Safe's Transaction Service", () => {
  test("is taken as the service takes one: hash, sender and signature are right by its own rules", async () => {
    const { double, treasury } = await open();
    const asked = await proposal(4n, "long ".repeat(100));
    expect(await treasury.publish(asked)).toEqual({ kind: "published" });
    expect(double.proposals).toMatchObject([{ contractTransactionHash: asked.hash, sender: DELEGATE, nonce: 4n }]);
    expect(double.proposals[0]?.origin).toMatch(/^swapd run_1\.0\.1: long .{150,}$/);
  });

  test.each([
    ["an answer that is lost", "lose"],
    ["an answer that never comes", "late"],
    ["a proxy that sends it twice", "twice"],
  ] as const)("is there once, and known to be, after %s", async (_what, fault) => {
    const { double, treasury } = await open();
    double.fault = ({ method }) => (method === "POST" ? fault : undefined);
    const asked = await proposal();
    expect(await treasury.publish(asked)).toEqual({ kind: "published" });
    expect(await treasury.publish(asked)).toEqual({ kind: "published" });
    expect(double.proposals).toHaveLength(1);
  });

  test.each([
    ["drop", "no complete answer"],
    ["hang", "no complete answer within 300 ms"],
    ["error", "answered 500"],
    ["limit", "answered 429"],
  ] as const)("is undelivered where a call meets %s, and taken when it is tried again", async (fault, detail) => {
    const { double, treasury } = await open();
    double.fault = () => fault;
    const asked = await proposal();
    expect(await treasury.publish(asked)).toMatchObject({
      kind: "undelivered",
      detail: expect.stringContaining(detail),
    });
    expect(double.proposals).toEqual([]);
    double.fault = () => undefined;
    expect(await treasury.publish(asked)).toEqual({ kind: "published" });
  });

  test("asks for nothing more after a refusal for its rate, which the limiter hears of with its wait", async () => {
    const { double, treasury, observed } = await open();
    double.fault = () => "limit";
    await treasury.publish(await proposal());
    expect(double.calls).toHaveLength(1);
    expect(observed.map((answer) => answer !== "lost" && answer.header("retry-after"))).toEqual(["2"]);
  });

  test("of a delegate that nobody listed says who has to do what", async () => {
    const { double, treasury } = await open();
    double.delegates.clear();
    const outcome = await treasury.publish(await proposal());
    const detail = `the delegate ${DELEGATE} may not propose to the Safe ${getAddress(SAFE)}: an owner adds it as a proposer in Safe's settings`;
    expect(outcome).toMatchObject({ kind: "undelivered", detail: expect.stringContaining(detail) });
  });

  test("needs the key where the service wants one, and no answer shows it", async () => {
    const { double, treasury } = await open({ apiKey: "jwt-of-ours" });
    double.keys = ["another"];
    const outcome = await treasury.publish(await proposal());
    expect(outcome).toMatchObject({ detail: expect.stringMatching(/answered 401 .*proposals\.service\.apiKey/) });
    expect(JSON.stringify(outcome)).not.toContain("jwt-of-ours");
    double.keys = ["jwt-of-ours"];
    expect(await treasury.publish(await proposal())).toEqual({ kind: "published" });
    expect(double.calls.at(-1)?.key).toBe("Bearer jwt-of-ours");
  });

  test("whose nonce was executed meanwhile is refused, and the refusal is passed on", async () => {
    const { treasury } = await open({ nonce: 5n });
    const outcome = await treasury.publish(await proposal());
    expect(outcome).toMatchObject({ kind: "undelivered", detail: expect.stringContaining("already executed") });
  });

  test("is not believed to be there where the service shows another one under its hash", async () => {
    const { double, treasury } = await open();
    const asked = await proposal();
    await treasury.publish(asked);
    double.fault = ({ method }) => (method === "POST" ? "drop" : undefined);
    double.proposals.splice(0, 1, { ...double.proposals[0], data: "0x8d80ff0a" } as (typeof double.proposals)[number]);
    expect(await treasury.publish(asked)).toMatchObject({ kind: "undelivered" });
    double.proposals.splice(0, 1, {
      ...double.proposals[0],
      data: asked.typedData.message.data,
      signature: null,
    } as never);
    expect(await treasury.publish(asked)).toMatchObject({ kind: "undelivered" });
  });

  test("takes the first nonce that nothing else waits for; what it proposed itself is replaced", async () => {
    const { double, treasury } = await open();
    await treasury.publish(await proposal(4n));
    expect(await treasury.freeNonce(4n)).toBe(4n);
    const [own] = double.proposals;
    const byOwner = (nonce: bigint) => ({ ...own, sender: OWNER, nonce }) as NonNullable<typeof own>;
    double.proposals.push(byOwner(4n), byOwner(5n), byOwner(7n));
    expect(await treasury.freeNonce(4n)).toBe(6n);
    double.fault = () => "error";
    expect(await treasury.freeNonce(4n)).toBe(4n);
  });
});

describe("a delegate", () => {
  test("is listed by whom the service names, or not at all, or that is not known", async () => {
    const { double, calls } = await open();
    const of = { safe: SAFE, delegate: toAddress(DELEGATE) };
    expect(await delegationOf(calls, of)).toEqual({ kind: "listed", delegators: [toAddress(OWNER)] });
    double.delegates.clear();
    expect(await delegationOf(calls, of)).toEqual({ kind: "listed", delegators: [] });
    double.fault = () => "error";
    expect(await delegationOf(calls, of)).toMatchObject({ kind: "unknown", detail: expect.stringContaining("500") });
  });

  const transaction = {
    ...{ chainId: CHAIN_ID, nonce: 0, to: SAFE, data: "0x" as Hex, value: 0n, gasLimit: 21_000n },
    ...{ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
  };

  test("signs no transaction", async () => {
    await expect(proposer.signTransaction(transaction)).rejects.toThrow("signs proposals to the Safe");
  });

  test.each([
    ["to another Safe", { domain: { chainId: String(CHAIN_ID), verifyingContract: ROUTER } }],
    ["on another chain", { domain: { chainId: "1", verifyingContract: SAFE } }],
    ["of another type", { primaryType: "Permit" }],
    ["that runs another contract", { message: { to: ROUTER } }],
  ])("signs no proposal %s", async (_what, change) => {
    const { typedData } = await proposal();
    const other = {
      ...typedData,
      ...change,
      message: { ...typedData.message, ...("message" in change && change.message) },
    };
    await expect(proposer.signTypedData(other)).rejects.toThrow("signs proposals to the Safe");
  });
});
