import { afterEach, expect, it, vi } from "vitest";
import { store, stored } from "../../dashboard/source/stored.ts";

afterEach(() => vi.unstubAllGlobals());

const REFUSES = (): never => {
  throw new Error("QuotaExceededError");
};

it.each([
  ["keeps nothing", { getItem: () => null, setItem: REFUSES }],
  ["gives nothing", { getItem: REFUSES, setItem: REFUSES }],
  ["is none", undefined],
])("keeps what is stored until the page is closed where the browser's storage %s", (_what, localStorage) => {
  vi.stubGlobal("localStorage", localStorage);
  store("one", "a text");
  expect(stored("one")).toBe("a text");
  expect(stored("other")).toBe("");
});

it("goes by the browser's storage again once that keeps something", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: REFUSES });
  store("one", "old");
  const setItem = (key: string, text: string): unknown => kept.set(key, text);
  vi.stubGlobal("localStorage", { getItem: (key: string) => kept.get(key) ?? null, setItem });
  store("one", "new");
  kept.set("one", "of another tab");
  expect(stored("one")).toBe("of another tab");
});
