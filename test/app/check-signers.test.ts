import { readFileSync } from "node:fs";
import { join } from "node:path";
import { computeAddress } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { askSigners, checkSigners } from "../../src/app/check-signers.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { loaded, MAIN } from "../config/project.ts";
import {
  type Misbehaviour,
  type SignerDoubleOptions,
  startSignerDouble,
} from "../support/signer-double/signer-double.ts";

const KEY = `0x${"7".repeat(64)}`;
const OWN = "  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }\n";

/** What a web3signer says to a name that its list of hosts, `localhost,127.0.0.1` unless told otherwise, does not hold. */
const FOREIGN_HOST = '{"message":"Host not authorized."}';

/** A signer that cannot sign typed data, whatever they are. */
const noTypedData: Misbehaviour["answer"] = (method) => {
  if (method !== "eth_signTypedData") return undefined;
  return { status: 500, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}' };
};

const pem = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../support/signer-double/tls", `${name}.pem`), "utf8");
const CERTIFIED = { cert: pem("signer.crt"), key: pem("signer.key") };

/** What `swapd check`, or another look, finds of a wallet that is signed for by a double. */
async function found(
  options: Partial<SignerDoubleOptions>,
  misbehave: Misbehaviour = {},
  { mode = "live", look = checkSigners } = {},
) {
  const double = await startSignerDouble({ chainId: 8_453, keys: [KEY], ...options });
  onTestFinished(double.stop);
  double.misbehave = misbehave;
  const wallet = `  main: { signer: { url: "${double.url}", address: "${computeAddress(KEY)}", timeout: 1s } }\n`;
  const configuration = loaded({ "main.yaml": MAIN.replace(OWN, wallet).replace("mode: live", `mode: ${mode}`) });
  const findings = await look(configuration, createRuntime({ level: "error", env: {} }));
  return { double, findings };
}

test("a signer that signs for the account and the chain is in order, and signed nothing of worth", async () => {
  const { double, findings } = await found({ isDeterministic: false });
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({ what: "signer of main", whatToDo: undefined });
  expect(findings[0]?.found).toMatch(/signs for 0x\w+ on chain 8453: tried with .* worth nothing/);
  expect(double.asked.map(({ method }) => method)).toEqual([
    "eth_accounts",
    "eth_signTypedData",
    "eth_signTransaction",
  ]);
  expect(double.asked[2]?.params).toMatchObject([{ gas: "0x0", value: "0x0", data: "0x" }]);
});

test.each<[string, Partial<SignerDoubleOptions>, Misbehaviour, RegExp, RegExp]>([
  ["signs for another chain", { chainId: 1 }, {}, /chainId is 1, asked was 8453/, /--chain-id 8453/],
  ["has not the key", { keys: [] }, {}, /no key at all, and none of/, /give the signer the key/],
  ["signs with another key", {}, { key: `0x${"8".repeat(64)}` }, /not by 0x/, /find out who answers there/],
  [
    "does not know our name for it",
    {},
    { answer: () => ({ status: 403, body: FOREIGN_HOST }) },
    /answered 403: {"message":"Host not authorized."}$/,
    /--http-host-allowlist/,
  ],
  ["wants a token", {}, { answer: () => ({ status: 401, body: "" }) }, /answered 401/, /token.*tls/],
  ["signs no typed data", {}, { answer: noTypedData }, /refused eth_signTypedData/, /signs typed data.*23\.9\.0/],
  [
    "shows a certificate that nobody knows",
    { tls: CERTIFIED },
    {},
    /SELF_SIGNED/,
    /renew.*certificate.*tls\.authority/,
  ],
  ["says nothing", {}, { before: () => new Promise(() => undefined) }, /no complete answer within 1000 ms/, /start/],
])("a signer that %s is a problem with its fix", async (_, options, misbehave, what, fix) => {
  const { findings } = await found(options, misbehave);
  expect(findings).toMatchObject([{ found: expect.stringMatching(what), whatToDo: expect.stringMatching(fix) }]);
});

test("swapd doctor asks it for its accounts, and for no signature", async () => {
  const { double, findings } = await found({}, {}, { look: askSigners });
  expect(findings).toMatchObject([
    { found: expect.stringContaining("no signature was asked for"), whatToDo: undefined },
  ]);
  expect(double.asked.map(({ method }) => method)).toEqual(["eth_accounts"]);
  const { findings: without } = await found({ keys: [] }, {}, { look: askSigners });
  expect(without).toMatchObject([{ whatToDo: expect.stringContaining("give the signer the key") }]);
});

test("on paper it is a warning, because nothing asks it", async () => {
  const { findings } = await found({ chainId: 1 }, {}, { mode: "paper" });
  expect(findings).toMatchObject([{ whatToDo: undefined, isWarning: true }]);
});

test("a way to it that others may hear is warned of", async () => {
  const wallet = `  main: { signer: { url: "http://signer.invalid:9000", address: "${computeAddress(KEY)}", timeout: 1s } }\n`;
  const configuration = loaded({ "main.yaml": MAIN.replace(OWN, wallet) });
  const [clear] = await checkSigners(configuration, createRuntime({ level: "error", env: {} }));
  expect(clear).toMatchObject({ isWarning: true, found: expect.stringContaining("is asked without TLS") });
});
