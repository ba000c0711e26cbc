import { expect, it } from "vitest";
import { brief, loaded, MAIN, problemsOf } from "./project.ts";

const serve = (gasless: string): Record<string, string> => ({
  "main.yaml": `${MAIN}serve: { gasless: { ${gasless} } }\n`,
});

it("may cost its owner what he says, in the native coin, and little where he says nothing", () => {
  expect(loaded().serve.gasless).toEqual({
    minimumNativeBalance: 10n ** 16n,
    feeMarginPpm: 50_000n,
    maxDailyLoss: 10n ** 17n,
    maxDailyGas: 10n ** 18n,
  });
  const { gasless } = loaded(
    serve('minimumBalance: "1.5 ETH", feeMargin: 10%, maxDailyLoss: "0.2 ETH", maxDailyGas: "3 ETH"'),
  ).serve;
  expect(gasless).toEqual({
    minimumNativeBalance: 15n * 10n ** 17n,
    feeMarginPpm: 100_000n,
    maxDailyLoss: 2n * 10n ** 17n,
    maxDailyGas: 3n * 10n ** 18n,
  });
});

it.each([
  ['minimumBalance: "1 USDC"', 'serve.gasless.minimumBalance: gas is paid in ETH here, not in USDC -> write "1 ETH"'],
  ["maxDailyLoss: 5", "serve.gasless.maxDailyLoss: needs text with its unit"],
  ["feeMargin: 0.1", "serve.gasless.feeMargin: needs text with its unit"],
  ['maxLoss: "1 ETH"', 'serve.gasless.maxLoss: unknown key "maxLoss"'],
])("with %s it is refused: %s", (gasless, expected) => {
  expect(problemsOf(serve(gasless)).map(brief).join("\n")).toContain(expected);
});
