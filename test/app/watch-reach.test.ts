import { expect, test } from "vitest";
import { alsoAbsent, watchChain, watchService } from "../../src/app/watch-reach.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { createReach } from "../../src/engine/reach.ts";
import type { Chain } from "../../src/ports/chain.ts";
import type { ServiceRefusal, SwapService } from "../../src/ports/swap-service.ts";
import { NOW_MS, WALLET } from "../support/builders.ts";
import { FakeClock } from "../support/fake-clock.ts";

type Refusal = readonly [code: string, status: number | undefined, retryable: boolean];

/** A service that answers each call with what is there. */
function begin() {
  const answers: { quote: Refusal | undefined; counts: Refusal | undefined } = { quote: undefined, counts: undefined };
  const clock = new FakeClock(NOW_MS);
  const service = createReach({ clock });
  const answer = (said: Refusal | undefined): ServiceRefusal | object =>
    said === undefined ? {} : { kind: "refused", code: said[0], message: "words", status: said[1], retryable: said[2] };
  const inner = {
    quote: async () => answer(answers.quote),
    statusCounts: async () => answer(answers.counts),
    swapRecord: async () => ({}),
  };
  const client = watchService(inner as unknown as SwapService, service);
  const askQuote = async (): Promise<void> => void (await client.quote({} as never));
  const askCounts = async (): Promise<object> => await client.statusCounts(WALLET);
  const askRecord = async (): Promise<void> => void (await client.swapRecord({} as never));
  return { answers, service, clock, askQuote, askCounts, askRecord };
}

test.each<[string, Refusal]>([
  ["it is overloaded", ["HTTP_503", 503, true]],
  ["it asked for no calls for an hour", ["WAITED_TOO_LONG", undefined, true]],
  ["our key is refused", ["UNAUTHORIZED", 401, false]],
  ["a firewall answers in its place", ["HTTP_403", 403, false]],
  ["somebody's page comes in its place", ["ANSWER_NOT_JSON", 200, false]],
  ["somebody leads to a page of his", ["REDIRECTED", undefined, false]],
])("a service is away while %s, until it answers a call of ours", async (_why, refusal) => {
  const { answers, service, clock, askQuote, askCounts } = begin();
  answers.quote = refusal;
  await askQuote();
  expect(service.absence()).toEqual({ sinceMs: NOW_MS, reason: `${refusal[0]}: words` });
  answers.counts = refusal;
  await clock.advance(15_000);
  await askCounts();
  expect(service.absence()?.sinceMs).toBe(NOW_MS);
  answers.counts = undefined;
  answers.quote = undefined;
  await askCounts();
  expect(service.absence()).toBeUndefined();
});

test.each<Refusal>([
  ["CHAIN_UNREACHABLE", 503, true],
  ["UNAUTHORIZED", 401, false],
])(
  "a service that knows its counts and what became of swaps, and quotes nothing (%s), is away until it quotes",
  async (...refusal) => {
    const { answers, service, clock, askQuote, askCounts, askRecord } = begin();
    answers.quote = refusal;
    await askQuote();
    for (let check = 0; check < 20; check += 1) {
      await clock.advance(15_000);
      expect(await askCounts()).toMatchObject({ kind: "refused", code: refusal[0] });
      await askRecord();
      expect(service.absence()).toEqual({ sinceMs: NOW_MS, reason: `${refusal[0]}: words` });
    }
    answers.quote = undefined;
    expect(await askCounts()).toEqual({});
    expect(service.absence()).toBeUndefined();
  },
);

test("a call that was not made says nothing, and a refusal of what was asked is an answer", async () => {
  const { answers, service, askQuote } = begin();
  answers.quote = ["CALLS_QUEUED", undefined, true];
  await askQuote();
  expect(service.absence()).toBeUndefined();
  answers.quote = ["UNREACHABLE", undefined, true];
  await askQuote();
  answers.quote = ["ABORTED", undefined, true];
  await askQuote();
  expect(service.absence()).toBeDefined();
  answers.quote = ["AMOUNT_TOO_LOW", 400, false];
  await askQuote();
  expect(service.absence()).toBeUndefined();
});

test("a node is away from the first newest block that nobody reports until one is reported, and a mistake of ours says nothing", async () => {
  const clock = new FakeClock(NOW_MS);
  const node = createReach({ clock });
  let fault: Error | undefined = new ChainReadError("unreachable", "no node answered");
  const latest = async (): Promise<object> => {
    if (fault !== undefined) throw fault;
    return { number: 1, timestamp: Math.floor(NOW_MS / 1_000) };
  };
  const chain = watchChain({ latest } as unknown as Chain, node, clock);
  await expect(chain.latest()).rejects.toThrow("no node answered");
  await clock.advance(15_000);
  await expect(chain.latest()).rejects.toThrow("no node answered");
  expect(node.absence()).toEqual({ sinceMs: NOW_MS, reason: "no node answered" });
  expect(node.holdsWorkUp()).toBe(true);
  fault = undefined;
  await chain.latest();
  expect(node.absence()).toBeUndefined();
  fault = new TypeError("undefined is not a function");
  await expect(chain.latest()).rejects.toThrow(TypeError);
  expect(node.absence()).toBeUndefined();
});

test("a node that stands still is as good as away, until it has a new block", async () => {
  const clock = new FakeClock(NOW_MS);
  const node = createReach({ clock });
  const head = { number: 7, timestamp: Math.floor(NOW_MS / 1_000), hash: "0x", baseFeePerGas: 1n };
  const chain = watchChain({ latest: async () => head } as unknown as Chain, node, clock);
  await clock.advance(300_000);
  await chain.latest();
  expect(node.absence()).toBeUndefined();
  await clock.advance(2_000);
  await chain.latest();
  expect(node.absence()?.reason).toMatch(/^the newest block 7 is 5m\d*s? old$/);
  head.timestamp += 300;
  await chain.latest();
  expect(node.absence()).toBeUndefined();
});

test("a node that shows a newest block and no final one is as good as away, until it shows one", async () => {
  const clock = new FakeClock(NOW_MS);
  const node = createReach({ clock });
  const head = { number: 7, timestamp: Math.floor(NOW_MS / 1_000), hash: "0x", baseFeePerGas: 1n };
  let isRefused = true;
  const finalized = async (): Promise<object> => {
    if (isRefused) throw new ChainReadError("refused", "no such tag: finalized");
    return head;
  };
  const chain = watchChain({ latest: async () => head, finalized } as unknown as Chain, node, clock);
  await expect(chain.finalized()).rejects.toThrow("no such tag");
  await chain.latest();
  expect(node.absence()).toEqual({ sinceMs: NOW_MS, reason: "no such tag: finalized" });
  isRefused = false;
  await chain.finalized();
  await chain.latest();
  expect(node.absence()).toBeUndefined();
});

test("a wait that the service asked for is an absence as long as it lasts, and is handed on", () => {
  const { service } = begin();
  const heard: (number | undefined)[] = [];
  const onHeldBack = alsoAbsent(service, (untilMs) => void heard.push(untilMs));
  onHeldBack(NOW_MS + 3_600_000);
  expect(service.absence()?.reason).toBe(`it asked for no calls until ${new Date(NOW_MS + 3_600_000).toISOString()}`);
  onHeldBack(undefined);
  expect([service.absence(), heard]).toEqual([undefined, [NOW_MS + 3_600_000, undefined]]);
});
