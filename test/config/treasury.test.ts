import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toAddress } from "../../src/domain/money/address.ts";
import { DCA, loaded, MAIN, POLICY, problemsOf } from "./project.ts";

const SAFE = "0x5afe5afe5afe5afe5afe5afe5afe5afe5afe5afe";
const MAIN_WITH_SAFE = MAIN.replace("tokens:", `  treasury: { safe: "${SAFE}", proposals: { folder: out } }\ntokens:`);
const files = {
  "main.yaml": MAIN_WITH_SAFE,
  "policy.yaml": POLICY.replace("recipients: [main]", `recipients: [main, treasury, "${"0x5afe".padEnd(42, "1")}"]`),
  "strategies/weekly.yaml": DCA.replace("wallet: main", "wallet: treasury"),
};

const messages = (strategy: string): readonly string[] =>
  problemsOf({ ...files, "strategies/weekly.yaml": strategy }).map(({ message }) => message);

describe("a Safe among the wallets", () => {
  test("needs no key to trade, and its strategies are never gasless", () => {
    const strategy = files["strategies/weekly.yaml"];
    const preferring = `${strategy}execution: { gasless: prefer }\n`;
    const { wallets, strategies, file } = loaded({ ...files, "strategies/weekly.yaml": preferring });
    const proposals = { kind: "folder", folder: join(file, "..", "out") };
    expect(wallets.get("treasury")).toMatchObject({ address: toAddress(SAFE), key: undefined, proposals });
    expect(strategies.map(({ spec }) => [spec.wallet.address, spec.recipient, spec.gasless])).toEqual([
      [SAFE, SAFE, "never"],
    ]);
  });

  test.each<[string, string, RegExp]>([
    ["native coins", "buy: ETH", /a Safe swaps tokens, and ETH is the native coin/],
    ["another recipient", `buy: WETH\nrecipient: main`, /the swaps of a Safe pay the Safe itself/],
    ["gasless execution", "buy: WETH\nexecution: { gasless: only }", /a Safe signs no orders here/],
  ])("is refused %s", (_what, line, message) => {
    expect(messages(files["strategies/weekly.yaml"].replace("buy: WETH", line))).toEqual([
      expect.stringMatching(message),
    ]);
  });
});
