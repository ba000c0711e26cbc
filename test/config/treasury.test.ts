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
    const proposals = { folder: join(file, "..", "out"), service: undefined };
    expect(wallets.get("treasury")).toMatchObject({ address: toAddress(SAFE), key: undefined, proposals });
    expect(strategies.map(({ spec }) => [spec.wallet.address, spec.recipient, spec.gasless])).toEqual([
      [SAFE, SAFE, "never"],
    ]);
  });

  const DELEGATE = "0xde1e6a7ede1e6a7ede1e6a7ede1e6a7ede1e6a7e";
  const withProposals = (proposals: string) => ({
    ...files,
    "main.yaml": MAIN_WITH_SAFE.replace("proposals: { folder: out }", `proposals: ${proposals}`),
  });
  const KEY = `keystore: { file: delegate.json }, password: { env: DELEGATE_PASS }, address: "${DELEGATE}"`;

  test("may have a service beside the folder or alone, with a key that signs nothing else", () => {
    const service = `url: "https://api.safe.global/tx-service/base/api", apiKey: { env: SAFE_KEY }, delegate: { ${KEY} }`;
    const { wallets, file } = loaded(withProposals(`{ service: { ${service} } }`));
    const delegate = {
      address: DELEGATE,
      key: {
        kind: "keystore",
        keystore: { file: join(file, "..", "delegate.json") },
        password: { env: "DELEGATE_PASS" },
      },
    };
    const url = "https://api.safe.global/tx-service/base/api";
    const proposals = { folder: undefined, service: { url, apiKey: { env: "SAFE_KEY" }, delegate } };
    expect(wallets.get("treasury")?.proposals).toEqual(proposals);
    const both = loaded(withProposals(`{ folder: out, service: { url: "${url}", delegate: { ${KEY} } } }`));
    const beside = { folder: expect.stringMatching(/out$/), service: { url, apiKey: undefined } };
    expect(both.wallets.get("treasury")?.proposals).toMatchObject(beside);
  });

  test.each<[string, string, RegExp]>([
    ["without any place", "{}", /names no place where the owners find a proposal/],
    ["with a service that is none", `{ service: { url: embedded, delegate: { ${KEY} } } }`, /is no http or https URL/],
    [
      "with a key that would be read on the way",
      `{ service: { url: "http://safe.example/api", apiKey: { env: K }, delegate: { ${KEY} } } }`,
      /would cross the network in the clear/,
    ],
    [
      "with a raw key for the delegate",
      `{ service: { url: "https://safe.example/api", delegate: { privateKey: { env: RAW } } } }`,
      /a raw key is accepted in the sandbox only/,
    ],
    [
      "with the key of a wallet for the delegate",
      `{ service: { url: "https://safe.example/api", delegate: { ${KEY.replace(DELEGATE, SAFE)} } } }`,
      /is the account of the wallet "treasury", and a delegate has no power/,
    ],
    [
      "with a service that nobody proposes to",
      `{ service: { url: "https://safe.example/api" } }`,
      /needs \{ keystore, password \}/,
    ],
  ])("is refused %s", (_what, proposals, message) => {
    expect(problemsOf(withProposals(proposals)).map((problem) => problem.message)).toEqual([
      expect.stringMatching(message),
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
