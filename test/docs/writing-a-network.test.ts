import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeWallet } from "../support/wallet-files.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { page, blocks, build } = workedExample("docs/WRITING-A-NETWORK.md", ["vitest.config.ts"]);

const STRATEGY = 'kind: dca\nwallet: main\nsell: "10 USDC"\nbuy: WETH\nschedule: { every: 6h }\n';

/** A copy of the project with the example, and what the shown configuration names alongside it. */
function begin(): string {
  const folder = build();
  cpSync(join(folder, "config/policy.example.yaml"), join(folder, "policy.yaml"));
  mkdirSync(join(folder, "strategies"));
  writeFileSync(join(folder, "strategies/hold.yaml"), STRATEGY);
  writeWallet(folder);
  return folder;
}

test("the page shows a file, two lines of the project and an import, and a chain of one's own", () => {
  expect(blocks.map(({ path, language }) => [path, language])).toEqual([
    ["src/networks/devnet.ts", "ts"],
    ["src/networks/book.ts", "diff"],
    ["test/networks/book.test.ts", "diff"],
    ["mychain.yaml", "yaml"],
    ["swapd.yaml", "yaml"],
  ]);
  const added = blocks.filter(({ language }) => language === "diff").map(({ text }) => text.match(/^\+/gm)?.length);
  expect(added).toEqual([2, 1]);
  for (const [, path] of page.matchAll(/^\| `(test\/[\w./-]+)` \|/gm))
    expect(readFileSync(path ?? "", "utf8"), path).toContain("NETWORKS");
});

// Tests of their own process, which share the machine with others.
const OF_PROCESSES = { timeout: 150_000 };

test(
  "the example's network, and a chain of one's own, are taken by swapd check, and a typo is reported as shown",
  OF_PROCESSES,
  () => {
    const folder = begin();
    const check = () => run(folder, "src/main.ts", "check", "--offline", "swapd.yaml");
    const own = check();
    expect(own, own.output).toMatchObject({ status: 0 });

    const main = readFileSync(join(folder, "swapd.yaml"), "utf8");
    const [, booked = ""] = /says `(network: \{[^`]*)`/.exec(page) ?? [];
    writeFileSync(join(folder, "swapd.yaml"), main.replace(/^network: .*$/m, booked));
    const ofBook = check();
    expect(ofBook, ofBook.output).toMatchObject({ status: 0 });

    writeFileSync(join(folder, "swapd.yaml"), main);
    const preset = join(folder, "mychain.yaml");
    writeFileSync(preset, readFileSync(preset, "utf8").replace(/^(wrappedNative: .*)180aa3"/m, '$1180aA3"'));
    const refused = check();
    expect(refused).toMatchObject({ status: 1 });
    expect(page).toContain(`\`\`\`text\n${refused.output.trimEnd().replace(/^\S*\//, "")}\n\`\`\`\n`);
  },
);
