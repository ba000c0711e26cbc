import { expect, it } from "vitest";
import { instant } from "../../src/config/instants.ts";

const begin = instant("a start", "begins");
const end = instant("an end", "ends");

it("a day begins with its first moment and ends with its last one, in UTC", () => {
  expect(begin.parse("2026-11-03")).toBe(Date.UTC(2026, 10, 3));
  expect(end.parse("2026-11-03")).toBe(Date.UTC(2026, 10, 4) - 1);
});

it("an instant is itself, wherever it stands", () => {
  for (const one of [begin, end]) {
    expect(one.parse("2026-11-03T08:00Z")).toBe(Date.UTC(2026, 10, 3, 8));
    expect(one.parse("2026-11-03T08:00:30Z")).toBe(Date.UTC(2026, 10, 3, 8, 0, 30));
  }
});

it.each([
  "2026-02-31",
  "2026-13-01",
  "2026-11-03T25:00Z",
  "2026-11-03T08:00",
  "2026-11-03T08:00+02:00",
  "tomorrow",
  "",
])("%j is refused", (text) => {
  const result = end.safeParse(text);
  expect(result.error?.issues[0]?.message).toBe(`"${text}" is no day and no instant in UTC`);
});
