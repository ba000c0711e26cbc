import { describe, expect, it } from "vitest";
import { readText } from "../style/support/repository.ts";
import { CLAIMS } from "./claims.ts";
import { CONTRIBUTING_CLAIMS } from "./contributing-claims.ts";
import { OPERATIONS_CLAIMS } from "./operations-claims.ts";
import { readCommands, readSampleLines, shapeOf } from "./readme-commands.ts";

describe("the README's commands", () => {
  it("are found in blocks, in blocks of lists and within sentences, without their comments", () => {
    const markdown = [
      "Type `npm start -- --for 60s` or look at `src/main.ts`.",
      "```sh",
      "npx swapd history   # every run",
      "# nothing to type",
      "",
      "echo '#1'",
      "```",
      "1. Then:",
      "   ```sh",
      "   npx swapd check",
      "   ```",
      "```yaml",
      "kind: `npm ci`",
      "```",
      "Again `npx swapd check`.",
    ].join("\n");
    expect(readCommands(markdown)).toEqual([
      { line: 1, text: "npm start -- --for 60s" },
      { line: 3, text: "npx swapd history" },
      { line: 6, text: "echo '#1'" },
      { line: 10, text: "npx swapd check" },
    ]);
  });

  it.each([
    ["README.md", CLAIMS],
    ["docs/OPERATIONS.md", OPERATIONS_CLAIMS],
    ["CONTRIBUTING.md", CONTRIBUTING_CLAIMS],
  ])("are each checked against a claim, and no claim is about a command that is gone: %s", (page, claims) => {
    const commands = readCommands(readText(page)).map(({ text }) => text);
    expect(claims.map(({ command }) => command).sort()).toEqual([...commands].sort());
  });
});

describe("a sample line of the README", () => {
  const sample = `2026-01-05T09:00:00Z  eth-from-dai   gasless  400 DAI -> 0.1309 WETH  0x${"a6".repeat(32)}`;

  it("is met by other amounts, instants and hashes", () => {
    const other = `2031-12-31T23:59:59Z  eth-from-dai        gasless        380.5 DAI -> 1 WETH  0x${"0f".repeat(32)}`;
    expect(other).toMatch(shapeOf(sample));
  });

  it("is not met by another mode, by another token, or without a hash", () => {
    for (const [from, to] of [
      ["gasless", "self-executed"],
      ["WETH", "USDC"],
      ["a6", ""],
    ] as const) {
      expect(sample.replaceAll(from, to)).not.toMatch(shapeOf(sample));
    }
  });

  it("is there for both modes", () => {
    const samples = readSampleLines(readText("README.md"));
    expect(samples.some((line) => line.includes(" self-executed "))).toBe(true);
    expect(samples.some((line) => line.includes(" gasless "))).toBe(true);
  });
});
