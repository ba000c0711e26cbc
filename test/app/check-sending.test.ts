import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { checkSending } from "../../src/app/check-sending.ts";
import { createSecretOpener } from "../../src/app/open-secrets.ts";
import { createRedactor } from "../../src/net/redact.ts";
import type { SubmitEndpoint } from "../../src/ports/chain.ts";
import { loaded, MAIN } from "../config/project.ts";
import { FakeChain } from "../support/fake-chain.ts";

const DCA = `kind: dca
wallet: main
sell: "100 USDC"
buy: WETH
schedule: { every: 6h }
limits: { slippage: 80bps }
`;

const on = (name: string, submit = "") =>
  MAIN.replaceAll(/(USDC|WETH): { address: "0x\w+"/g, "$1: { address: preset")
    .replace("name: base", `name: ${name}`)
    .replace("rpc: [", `${submit}rpc: [`);

async function findings(main: string, endpoints: readonly SubmitEndpoint[] = []) {
  const configuration = loaded({ "main.yaml": main, "strategies/weekly.yaml": DCA });
  const chain = Object.assign(new FakeChain(systemClock), { submitEndpoints: async () => endpoints });
  return await checkSending({ configuration, chain });
}

test("private sending is said with the hosts, and whose choice it was", async () => {
  const endpoints = [{ host: "relay.example", problem: undefined }];
  expect(await findings(on("ethereum"), endpoints)).toEqual([
    {
      what: "sending",
      found:
        "privately: transactions go to relay.example alone (relays of the network book: network.submit names none)",
      whatToDo: undefined,
    },
  ]);
  const [named] = await findings(on("ethereum", 'submit: [{ url: "https://relay.example" }], '), endpoints);
  expect(named?.found).toBe("privately: transactions go to relay.example alone");
});

test("a fallback is said with its blocks and its bound", async () => {
  const main = on("ethereum", "fallback: { publicAfterBlocks: 25, slippage: 20bps }, ");
  const [sending] = await findings(main, [{ host: "relay.example", problem: undefined }]);
  expect(sending?.found).toMatch(
    /alone .*; a swap that is in no block after 25 is tried once more for everybody to see, with 0.2% of slippage at most$/,
  );
});

test("an endpoint that takes nothing is a warning beside one that does, and alone it makes the check red", async () => {
  const away = { host: "one.example", problem: "no answer" };
  const both = await findings(on("ethereum"), [away, { host: "two.example", problem: undefined }]);
  expect(both.map(({ whatToDo, isWarning = false }) => [whatToDo, isWarning])).toEqual([
    [undefined, false],
    [undefined, true],
  ]);
  expect((await findings(on("ethereum"), [away]))[0]?.whatToDo).toMatch(/correct network.submit/);
});

test("public sending warns of each strategy whose slippage is worth somebody's work", async () => {
  const [sending, ...warnings] = await findings(on("ethereum", "submit: public, "));
  expect(sending?.found).toBe("publicly: everybody may see a transaction before it is in a block");
  expect(warnings.find(({ found }) => found.startsWith("weekly"))).toMatchObject({
    found: expect.stringMatching(/^weekly allows 0.8% of slippage, and everybody sees its transactions/),
    isWarning: true,
  });
  const { length } = await findings(on("ethereum", "submit: public, "));
  expect((await findings(on("base"))).length).toBe(1);
  expect(length).toBeGreaterThan(1);
});

test("relays that nobody named get nothing where an RPC endpoint may be a copy of the network", () => {
  const secrets = (url: string) => createSecretOpener({ RPC_1: url }, createRedactor());
  const hosts = (main: string, url: string) =>
    secrets(url)
      .submitUrls(loaded({ "main.yaml": main }, { RPC_1: url }))
      .map((one) => new URL(one.reveal()).host);
  expect(hosts(on("ethereum"), "https://node.example/key")).toEqual(["rpc.flashbots.net", "rpc.mevblocker.io"]);
  expect(hosts(on("ethereum"), "http://127.0.0.1:8545")).toEqual([]);
  expect(hosts(on("ethereum", "submit: public, "), "https://node.example/key")).toEqual([]);
  expect(hosts(on("ethereum", 'submit: [{ url: "https://relay.example" }], '), "http://127.0.0.1:8545")).toEqual([
    "relay.example",
  ]);
});
