import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CRASH_LABELS } from "./crash-labels.ts";
import { planLabelKills } from "./kill-plan.ts";

const SRC = fileURLToPath(new URL("../../../src/", import.meta.url));

/** What stands in the place of `${...}` in a label of the source. */
const PLACEHOLDERS: Readonly<Record<string, readonly string[]>> = {
  "event.kind": kindsOf("domain/run/events.ts", "RunEvent"),
  "pending.effect.kind": kindsOf("domain/run/effects.ts", "Effect"),
  label: ["lane", "lane.bump", "lane.cancel"],
};

/** The kinds of a union that is declared as `{ readonly kind: "..." }`, one after the other. */
function kindsOf(file: string, union: string): string[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const start = text.indexOf(`export type ${union} =`);
  const members = text.slice(start, text.indexOf(";\n\n", start));
  const kinds = [...members.matchAll(/^(?: {2}\| \{| {6})(?:\n? *)readonly kind: "([^"]+)"/gm)];
  return kinds.map((match) => match[1] ?? "");
}

function labelsOfSource(): Set<string> {
  const labels = new Set<string>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const text = readFileSync(join(SRC, file), "utf8");
    for (const call of text.matchAll(/(?:\bdeps\.|\b)(?:crashPoint|passCrashPoint)\(([^;]*?)\);/g)) {
      for (const quoted of (call[1] ?? "").matchAll(/"([a-zA-Z.-]+\.[a-zA-Z.-]+)"|`([^`]+)`/g)) {
        for (const label of expand(quoted[1] ?? quoted[2] ?? "")) labels.add(label);
      }
    }
  }
  return labels;
}

function expand(text: string): string[] {
  const match = /\$\{([^}]+)\}/.exec(text);
  if (match === null) return [text];
  const values = PLACEHOLDERS[match[1] ?? ""];
  if (values === undefined) throw new Error(`nobody knows what ${match[0]} in the label ${text} can be`);
  return values.map((value) => text.replace(match[0], value));
}

describe("the list of crash labels", () => {
  it("names every place at which the source lets itself be killed, and no other", () => {
    const listed = Object.values(CRASH_LABELS).flat();
    expect(new Set(listed)).toEqual(labelsOfSource());
    expect(listed.length).toBe(new Set(listed).size);
  });
});

describe("a plan of one label", () => {
  const labelsOf = (label: string, kills: number) =>
    planLabelKills([label], { tracks: 2, kills }).map((track) => track.map((step) => step.label));

  it("asks for it alone, as often as kills are wanted", () => {
    expect(labelsOf("gasless.sign.after", 4)).toEqual([
      ["gasless.sign.after", "gasless.sign.after"],
      ["gasless.sign.after", "gasless.sign.after"],
    ]);
  });

  it("has what it follows on before it", () => {
    const ladder = ["lane.broadcast.before", "lane.bump.sign.before"];
    expect(labelsOf("lane.bump.sign.before", 3)).toEqual([ladder, ladder]);
  });
});
