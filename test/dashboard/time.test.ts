import { describe, expect, it } from "vitest";
import { clockTime, relative, span, tableTime } from "../../dashboard/source/format/time.ts";

const NOW = Date.parse("2026-03-29T01:30:00.000Z");

describe("times", () => {
  it("says a length of time in its two largest units", () => {
    expect(span(0)).toBe("0 s");
    expect(span(59_999)).toBe("59 s");
    expect(span(3_600_000)).toBe("1 h");
    expect(span(93_784_000)).toBe("1 d 2 h");
    expect(span(86_400_000 + 59_000)).toBe("1 d");
  });

  it("counts down and up, and says now in between", () => {
    expect(relative("2026-03-29T01:31:30.000Z", NOW)).toBe("in 1 min 30 s");
    expect(relative("2026-03-29T01:29:00.000Z", NOW)).toBe("1 min ago");
    expect(relative("2026-03-29T01:30:01.000Z", NOW)).toBe("now");
    expect(relative("yesterday", NOW)).toBe("yesterday");
  });

  it("writes the clock of a zone through the change to summer time", () => {
    expect(clockTime("2026-03-29T00:59:59.000Z", "Europe/Berlin")).toMatch(/01:59:59/);
    expect(clockTime("2026-03-29T01:00:00.000Z", "Europe/Berlin")).toMatch(/03:00:00/);
    expect(tableTime("2026-03-29T01:00:00.000Z", NOW, "Europe/Berlin")).toBe("03:00:00");
    expect(tableTime("2026-03-28T12:00:00.000Z", NOW, "Europe/Berlin")).toBe("28 Mar 13:00:00");
  });

  it("takes no day of another year for one of this year, or for today", () => {
    expect(tableTime("2025-03-29T12:00:00.000Z", NOW, "UTC")).toBe("29 Mar 2025 12:00:00");
    expect(tableTime("2025-12-31T23:30:00.000Z", NOW, "UTC")).toBe("31 Dec 2025 23:30:00");
    expect(tableTime("2025-12-31T23:30:00.000Z", NOW, "Europe/Berlin")).toBe("01 Jan 00:30:00");
  });
});
