import { describe, expect, test } from "vitest";
import { brief, DCA, loaded, MAIN, problemsOf, WALLET } from "./project.ts";

const WALLET_LINE = /wallets:\n {2}main: .*\n/;

function on(wallet: string, mode = "paper"): string {
  const text = MAIN.replace("mode: live", `mode: ${mode}`).replace(WALLET_LINE, `wallets:\n  main: ${wallet}\n`);
  expect(text).not.toContain("keystore");
  return text;
}

const problems = (text: string, files: Record<string, string> = {}): string[] =>
  problemsOf({ "main.yaml": text, ...files }).map(brief);

describe("mode paper", () => {
  test("takes a wallet of amounts, with an address of its own and without a key", () => {
    const { mode, wallets, tokens } = loaded({ "main.yaml": on('{ paper: { USDC: 5000, ETH: "0.5" } }') });
    const main = wallets.get("main");
    const has = (symbol: string) => main?.paper?.get(tokens.get(symbol)?.token.address ?? main.address);
    expect(mode).toBe("paper");
    expect(main?.key).toBeUndefined();
    expect(has("USDC")).toBe(5_000_000_000n);
    expect(has("ETH")).toBe(5n * 10n ** 17n);
    const again = loaded({ "main.yaml": on("{ paper: { USDC: 1 } }") }).wallets.get("main");
    expect(again?.address).toBe(main?.address);
  });

  test("takes a watched account, and one with a keystore that is not opened", () => {
    expect(loaded({ "main.yaml": on(`{ address: "${WALLET}" }`) }).wallets.get("main")?.paper).toBeUndefined();
    expect(loaded({ "main.yaml": MAIN.replace("mode: live", "mode: paper") }).mode).toBe("paper");
  });

  test("has a database of its own, beside that of the other modes", () => {
    expect(loaded().database).toMatch(/\/swapd\.db$/);
    const { database } = loaded({ "main.yaml": MAIN.replace("mode: live", "mode: paper") });
    expect(database).toMatch(/\/swapd\.db\.paper\.db$/);
  });

  test("a paper wallet is refused live, with what to do", () => {
    expect(problems(on("{ paper: { USDC: 5000 } }", "live"))).toEqual([
      expect.stringContaining("this account is on paper, and the mode is live"),
    ]);
  });

  test("amounts next to a key are two ways of one wallet, and no mistyped key", () => {
    expect(problems(on("{ paper: { USDC: 5000 }, privateKey: env:SWAPD_KEY }"))).toEqual([
      expect.stringMatching(/wallets\.main\.\w+: the key "\w+" does not go with the other keys here -> choose one way/),
    ]);
  });

  test("amounts that are none are refused with their place", () => {
    const found = problems(on('{ paper: { USDC: "5.0000001", USDT: 5, WETH: "a lot" } }'));
    expect(found).toEqual([
      expect.stringMatching(/wallets\.main\.paper\.USDC.*more decimals than the token has/s),
      expect.stringMatching(/wallets\.main\.paper\.USDT.*not known/s),
      expect.stringMatching(/wallets\.main\.paper\.WETH.*not a decimal number/s),
    ]);
  });

  test("a strategy that sells the native coin needs a wallet that lists it", () => {
    const sells = DCA.replace(/sell: .*/, 'sell: "0.05 ETH"')
      .replace(/buy: .*/, "buy: USDC")
      .replace(/budget: .*\n/, "");
    const files = { "strategies/weekly.yaml": sells };
    expect(problems(on("{ paper: { USDC: 5000 } }"), files).join()).toContain("this wallet lists none");
    const listed = { "main.yaml": on('{ paper: { USDC: 5000, ETH: "1" } }'), ...files };
    expect(loaded(listed).mode).toBe("paper");
  });
});
