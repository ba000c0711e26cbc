import { describe, expect, it } from "vitest";
import { linePlot } from "../../src/app/html/line-plot.ts";
import { escapeHtml, listOf, pageOf, tableOf } from "../../src/app/html/markup.ts";

const HOSTILE = `</text><script>alert("1")</script><img src=x onerror='alert(2)'>&`;

describe("a page of a report", () => {
  it("shows hostile names as text, wherever they stand", () => {
    const plot = linePlot(
      HOSTILE,
      [{ name: HOSTILE, colour: "--one", as: "line", points: [{ atMs: 0, value: 1 }] }],
      () => HOSTILE,
    );
    const page = pageOf(HOSTILE, [plot, tableOf([[HOSTILE, HOSTILE]]), listOf([HOSTILE])].join("\n"));
    expect(page).not.toMatch(/<script|<img|onerror='/);
    expect(page.split(escapeHtml(HOSTILE)).length).toBeGreaterThan(7);
  });

  it("forbids whatever a mistake would let in", () => {
    expect(pageOf("a", "")).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`);
  });
});

describe("a plot", () => {
  it("keeps the extremes of a long line, and stays small", () => {
    const points = Array.from({ length: 100_000 }, (_, atMs) => ({
      atMs,
      value: atMs === 77_777 ? 9 : atMs === 5 ? -4 : 1,
    }));
    const plot = linePlot("a", [{ name: "b", colour: "--one", as: "line", points }], (value) => value.toFixed(0));
    expect(plot.length).toBeLessThan(20_000);
    expect(plot).toContain(">9<");
    expect(plot).toContain(">-4<");
  });

  it("of nothing is nothing, and of one value no division by zero", () => {
    expect(linePlot("a", [], String)).toBe("");
    const one = linePlot("a", [{ name: "b", colour: "--up", as: "up", points: [{ atMs: 5, value: 3 }] }], String);
    expect(one).not.toContain("NaN");
  });
});
