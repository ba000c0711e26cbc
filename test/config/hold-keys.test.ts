import { expect, it } from "vitest";
import { brief, DCA, loaded, MAIN, strategyProblems } from "./project.ts";

const withExecution = (keys: string): string => `${DCA}execution: ${keys}\n`;

const specOf = (text: string) => loaded({ "strategies/weekly.yaml": text }).strategies[0]?.spec;

it("ALL-12 an approval is waited for half a day unless the file says how long", () => {
  expect(specOf(withExecution('{ approve_above: "2000 USD" }'))).toMatchObject({
    ...{ approveAboveUsd: 2_000n * 10n ** 18n, approveWithinSeconds: 43_200 },
  });
  const quick = withExecution('{ approve_above: "2000 USD", approve_within: 30m, announce: 1h }');
  expect(specOf(quick)).toMatchObject({ approveWithinSeconds: 1_800, announceSeconds: 3_600 });
});

it("a file without them is the same edition as before", () => {
  expect(Object.keys(specOf(DCA) ?? {})).not.toEqual(expect.arrayContaining(["approveAboveUsd"]));
  expect(Object.keys(specOf(DCA) ?? {})).not.toEqual(expect.arrayContaining(["announceSeconds"]));
});

it.each([
  [
    "{ approve_within: 1h }",
    'execution.approve_within: nothing waits for an approval -> add approve_above, for example "2000 USD"',
  ],
  ['{ approve_above: "2000 USDC" }', 'execution.approve_above: "2000 USDC" is not in dollars -> write "2000 USD"'],
  ["{ approve_above: 2000 }", "execution.approve_above: "],
  ["{ announce: soon }", "execution.announce: "],
  ['{ aprove_above: "2000 USD" }', "execution.aprove_above: unknown key"],
])("%s is refused with its place", (keys, problem) => {
  expect(strategyProblems(withExecution(keys)).join("\n")).toContain(problem);
});

it("who asks or announces where no channel brings it to anybody is warned of", () => {
  const hook = "webhook: { url: { env: HOOK }, secret: { env: SECRET } }";
  const text = withExecution('{ approve_above: "2000 USD", announce: 1h }');
  const warningsWith = (alerts: string) =>
    loaded({ "strategies/weekly.yaml": text, "main.yaml": MAIN + alerts }).warnings.map(brief);
  const unheard = (key: string, code: string) =>
    expect.stringMatching(
      `^6:\\d+ execution\\.${key}: no channel of alerts sends ${code}, a warning: nobody hears of what weekly asks`,
    );
  const both = [unheard("approve_above", "APPROVAL_NEEDED"), unheard("announce", "SWAP_ANNOUNCED")];
  expect(warningsWith("")).toEqual(both);
  expect(warningsWith(`alerts: { ${hook} }\n`)).toEqual([]);
  expect(warningsWith(`alerts: { ${hook.replace("} }", "}, minimum: critical }")} }\n`)).toEqual(both);
  expect(warningsWith(`alerts: { ${hook}, events: { SWAP_ANNOUNCED: off } }\n`)).toEqual(both.slice(1));
});
