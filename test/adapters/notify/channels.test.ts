import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHANNEL_BOOK, channelKindOf } from "../../../src/adapters/notify/channels.ts";

const SOURCE = join(import.meta.dirname, "../../../src");
const NOTIFY = join(SOURCE, "adapters/notify");

test("each file and each folder of channels is in the list", () => {
  const list = readFileSync(join(NOTIFY, "channels.ts"), "utf8");
  const entries = readdirSync(join(NOTIFY, "channels"));
  expect(entries.filter((entry) => !list.includes(`"./channels/${entry}`))).toEqual([]);
  expect(entries).toHaveLength(CHANNEL_BOOK.size);
});

test("no option of a kind has the name of what every channel has", () => {
  for (const [kind, { options, pasted }] of CHANNEL_BOOK) {
    expect(channelKindOf(kind)).toMatchObject({ options, pasted });
    // A URL that holds other options has their place, and is none of them.
    if (pasted !== undefined) expect(Object.keys(options)).toEqual(expect.arrayContaining([...pasted.holds]));
    if (pasted !== undefined) expect(options).not.toHaveProperty("url");
    for (const name of Object.keys(options)) {
      expect(["kind", "minimum", "ends"], kind).not.toContain(name);
      expect(name).toMatch(/^[a-z][a-zA-Z]{0,31}$/);
    }
  }
  expect(() => channelKindOf("toString")).toThrow('there is no kind of channel "toString"');
});

test("nobody else knows a kind by its name, but for the configuration, whose webhook is a channel", () => {
  const known = [...CHANNEL_BOOK.keys()].map((kind) => new RegExp(`"${kind}"`));
  const naming = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) => {
    if (!path.endsWith(".ts") || path.startsWith("adapters/notify/channels/")) return false;
    const text = readFileSync(join(SOURCE, path), "utf8");
    return known.some((name) => name.test(text));
  });
  expect(naming).toEqual(["config/build-channels.ts"]);
});
