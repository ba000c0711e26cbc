import { beforeEach, describe, expect, test } from "vitest";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { type Refusal, refuse } from "../../../src/service/errors/errors.ts";
import { createPlaces } from "../../../src/service/relayer/places.ts";
import type { RelayTerms } from "../../../src/service/relayer/relay-book.ts";
import type { SwapRow } from "../../../src/service/store/service-store.ts";

const addressOf = (place: number): Address => toAddress(`0x${place.toString(16).padStart(40, "0")}`);
const LISTED = addressOf(0xaa);
const STRANGE = addressOf(0xbb);
const KEY = { name: "key 1", isKeyed: true };
const HOME = { name: "address 192.0.2.1", isKeyed: false };

/** Of all that wait here. */
const DEADLINE = 90_000;

interface Waiting {
  readonly wallet: Address;
  readonly toToken: Address;
  readonly caller: string;
}

let waiting: Waiting[];
let idle: Set<string>;
let reverted: Set<string>;
let standing: Refusal | undefined;
let chainSeconds: number;

beforeEach(() => {
  chainSeconds = DEADLINE;
  waiting = [];
  idle = new Set();
  reverted = new Set();
  standing = undefined;
});

const rows = () =>
  waiting.map(
    (one, place) =>
      ({
        ...one,
        intentId: String(place),
        deadlineSeconds: DEADLINE,
        fromToken: STRANGE,
        sellAmount: "7",
      }) as unknown as SwapRow,
  );
const places = createPlaces(new Set([LISTED]), {
  store: { unminedSwaps: rows },
  book: {
    terms: (id) => ({ caller: waiting[Number(id)]?.caller }) as RelayTerms,
    hasReverted: (wallet, sinceMs) => sinceMs === 1_000 && reverted.has(wallet),
  },
  losses: { refusal: () => standing, maySpend: () => 1n },
  isIdle: (id) => idle.has(id),
  chainSeconds: () => chainSeconds,
  clock: { nowMs: () => 86_401_000 },
});

let wallets = 0x1000;
const newWallet = () => addressOf(wallets++);

/** Asks for places until there is none. @returns how many there were, and why there is no further one */
function fill(one: (count: number) => { owner: Address; toToken: Address; sender: typeof KEY }): [number, string] {
  for (let count = 0; ; count += 1) {
    const { owner, toToken, sender } = one(count);
    const refusal = places.refusal({ owner, toToken, sender });
    if (refusal !== undefined) return [count, refusal.detail ?? refusal.error];
    waiting.push({ wallet: owner, toToken, caller: sender.name });
  }
}

describe("places at the relayer", () => {
  test("are shared: nobody shuts out another wallet, another caller or another token", () => {
    const owner = newWallet();
    expect(fill(() => ({ owner, toToken: LISTED, sender: KEY }))).toEqual([5, expect.stringContaining("this wallet")]);
    const strange = () => ({ owner: newWallet(), toToken: STRANGE, sender: KEY });
    expect(fill(strange)).toEqual([5, expect.stringContaining("this token")]);
    const home = () => ({ owner: newWallet(), toToken: LISTED, sender: HOME });
    expect(fill(home)).toEqual([10, expect.stringContaining("came from you")]);
    const key = () => ({ owner: newWallet(), toToken: LISTED, sender: KEY });
    expect(fill(key)).toEqual([15, expect.stringContaining("came from you")]);
    const others = (count: number) => ({
      owner: newWallet(),
      toToken: LISTED,
      sender: { name: `address 198.51.100.${count}`, isKeyed: false },
    });
    expect(fill(others)).toEqual([15, expect.stringContaining("as many swaps wait")]);
    expect(places.full()?.error).toBe("GASLESS_UNAVAILABLE");
  });

  test("are lost at once by what stopped working, and what works again holds one again", () => {
    fill((count) => ({ owner: newWallet(), toToken: LISTED, sender: { name: `address ${count}`, isKeyed: false } }));
    expect(places.full()).toBeDefined();
    for (let place = 0; place < 50; place += 1) idle.add(String(place));
    expect(places.full()).toBeUndefined();
    expect(places.refusal({ owner: newWallet(), toToken: LISTED, sender: HOME })).toBeUndefined();
    idle.clear();
    expect(places.full()).toBeDefined();
  });

  test("are lost, with what they sell of a balance, by orders past their deadline by the newest block, which can only revert", () => {
    const owner = newWallet();
    const sale = { wallet: owner, fromToken: STRANGE, sellAmount: "7" };
    fill(() => ({ owner, toToken: LISTED, sender: HOME }));
    expect(places.tooLittle(sale, 41n)?.error).toBe("SIMULATION_REVERTED");
    chainSeconds = DEADLINE + 1;
    expect(places.working()).toEqual([]);
    expect(places.refusal({ owner, toToken: LISTED, sender: HOME })).toBeUndefined();
    expect(places.tooLittle(sale, 7n)).toBeUndefined();
  });

  test("are fewer for a wallet whose swap reverted at the relayer's expense within a day", () => {
    const owner = newWallet();
    reverted.add(owner);
    expect(fill(() => ({ owner, toToken: LISTED, sender: HOME }))[0]).toBe(1);
    expect(fill(() => ({ owner: newWallet(), toToken: LISTED, sender: KEY }))[0]).toBeGreaterThan(1);
  });

  test("are none for anyone who lost more than a share, however many are free", () => {
    standing = refuse("GASLESS_STANDING");
    expect(places.refusal({ owner: newWallet(), toToken: LISTED, sender: HOME })).toBe(standing);
    expect(places.full()).toBeUndefined();
  });
});
