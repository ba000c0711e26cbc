import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { readText } from "../style/support/repository.ts";
import { PICTURES, PICTURES_FOLDER, whatOfNow, whatOfThen } from "./support/pictures.ts";

it("keeps the pictures current with the page that they show: `npm run page:pictures` makes them anew", () => {
  expect(whatOfNow()).toEqual(whatOfThen());
});

it("shows each picture somewhere, at three widths and in both themes", () => {
  const names = PICTURES.map((name) => `${name}.jpg`);
  expect(readdirSync(PICTURES_FOLDER).sort()).toEqual([...names, "made-of.json"].sort());
  const texts = ["README.md", "docs/OPERATIONS.md"].map(readText).join("\n");
  for (const name of names) expect(texts).toContain(`pictures/${name})`);
  for (const part of ["desk", "tablet", "phone", "light", "dark"])
    expect(PICTURES.some((name) => name.split("-").includes(part))).toBe(true);
});
