import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loaded, MAIN, problemsOf, WALLET } from "./project.ts";

const OWN = "  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }\n";

/** The project with its wallet signed for elsewhere. */
function signedBy(signer: string, address = `, address: "${WALLET}"`): Readonly<Record<string, string>> {
  return { "main.yaml": MAIN.replace(OWN, `  main: { signer: { ${signer}${address} } }\n`) };
}

describe("a wallet that is signed for elsewhere", () => {
  test("has its address stated, and paths from the folder of the file", () => {
    const tls = "tls: { certificate: swapd.crt, key: { file: swapd.key }, authority: signer.crt }";
    const { wallets, file } = loaded(signedBy(`url: "https://signer:9000", token: { env: T }, ${tls}, timeout: 5s`));
    const at = (name: string): string => join(file, "..", name);
    expect(wallets.get("main")).toMatchObject({
      address: WALLET,
      key: {
        ...{ kind: "remote", url: "https://signer:9000", address: WALLET, token: { env: "T" }, timeoutMs: 5_000 },
        tls: { certificate: at("swapd.crt"), key: { file: at("swapd.key") }, authority: at("signer.crt") },
      },
    });
  });

  test("needs a URL and an address, and answers within ten seconds unless said", () => {
    const { wallets } = loaded(signedBy('url: "http://127.0.0.1:9000"'));
    expect(wallets.get("main")?.key).toMatchObject({ timeoutMs: 10_000, token: undefined, tls: undefined });
  });

  test("may be the relayer's as well", () => {
    const relayer = `serve: { relayer: { signer: { url: "http://127.0.0.1:9000", address: "0x${"5".repeat(40)}" } } }\n`;
    expect(loaded({ "main.yaml": `${MAIN}${relayer}` }).serve.relayer).toMatchObject({ kind: "remote" });
  });

  test("is the same account as another wallet's, if it is", () => {
    const twin = MAIN.replace(
      "tokens:",
      `  twin: { signer: { url: "http://127.0.0.1:9000", address: "${WALLET}" } }\ntokens:`,
    );
    expect(problemsOf({ "main.yaml": twin }).map(({ message }) => message)).toEqual(['is the same account as "main"']);
  });

  test.each<[string, string, RegExp]>([
    ["is no URL", "url: signer", /is no http or https URL/],
    ["has a password in it", 'url: "https://me:secret@signer:9000"', /is a host and a path only/],
    ["takes a token in the clear", 'url: "http://signer:9000", token: { env: T }', /in the clear/],
    [
      "shows a certificate to nobody",
      'url: "http://127.0.0.1:9000", tls: { certificate: a, key: { file: b } }',
      /over https alone/,
    ],
    ["waits too long", 'url: "https://signer:9000", timeout: 10m', /60s/],
  ])("is refused where it %s", (_, signer, message) => {
    const problems = problemsOf(signedBy(signer));
    expect(problems.map((one) => `${one.message} ${one.suggestion ?? ""}`)).toEqual([expect.stringMatching(message)]);
  });

  test("is refused without the address of the account", () => {
    const [problem] = problemsOf(signedBy('url: "https://signer:9000"', ""));
    expect(`${problem?.message}`).toMatch(/address/);
  });
});
