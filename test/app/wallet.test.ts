import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptKeystoreJsonSync } from "ethers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { createSecretOpener } from "../../src/app/open-secrets.ts";
import { createRedactor } from "../../src/net/redact.ts";

const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const MNEMONIC = "test test test test test test test test test test test junk";

/** Cheap to open: what it costs is no subject here. */
function keystore(password: string): string {
  return encryptKeystoreJsonSync({ address: ADDRESS, privateKey: KEY }, password, { scrypt: { N: 2 } });
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

async function swapd(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said: { out: string[]; err: string[] } = { out: [], err: [] };
  const out = (text: string): number => said.out.push(text);
  const err = (text: string): number => said.err.push(text);
  const code = await runCli(["node", "swapd", ...args], { out, err, isInteractive: false });
  return { code, out: said.out.join("\n"), err: said.err.join("\n") };
}

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "swapd-wallet-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("swapd wallet address", () => {
  it("needs no password where the keystore states its address, and shows the checksum", async () => {
    expect(await swapd("wallet", "address", "--keystore", file("w.json", keystore("horse")))).toEqual({
      code: 0,
      out: ADDRESS,
      err: "",
    });
  });

  it("asks for the password where the keystore does not state it", async () => {
    const { address: _left, ...rest } = JSON.parse(keystore("horse")) as Record<string, unknown>;
    const path = file("w.json", JSON.stringify(rest));
    const asked = await swapd("wallet", "address", "--keystore", path);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("--password-file") });
    const args = ["wallet", "address", "--keystore", path, "--password-file", file("pass", "horse\r\n")];
    expect(await swapd(...args)).toMatchObject({ code: 0, out: ADDRESS });
  });

  it.each([
    ["a wrong password", "cow", "the password does not open the keystore"],
    ["an empty password file", "", "the password does not open the keystore"],
  ])("ends with 78 and a clear word for %s", async (_what, password, words) => {
    const store = file("w.json", keystore("horse"));
    const ended = await swapd("wallet", "address", "--keystore", store, "--password-file", file("pass", password));
    expect(ended).toMatchObject({ code: 78, out: "", err: expect.stringContaining(words) });
    expect(ended.err).toContain("w.json");
  });

  it("says that an empty password opens a keystore", async () => {
    const store = file("w.json", keystore(""));
    const ended = await swapd("wallet", "address", "--keystore", store, "--password-file", file("pass", "\n"));
    expect(ended).toMatchObject({ code: 0, out: ADDRESS, err: expect.stringContaining("an empty password opens") });
  });

  it("ends with 78 for a file that is no keystore, also without a password", async () => {
    const ended = await swapd("wallet", "address", "--keystore", file("w.json", KEY));
    expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("not an encrypted Web3 keystore") });
    expect(ended.err).not.toContain(KEY.slice(2));
  });
});

describe("swapd wallet import", () => {
  it.each([
    ["a mnemonic", MNEMONIC, "horse", "looks like a mnemonic, which is not accepted"],
    ["a short key", KEY.slice(0, 60), "horse", "has 58 hexadecimal digits, not 64"],
    ["an empty key", "\n", "horse", "the private key is empty"],
    ["an empty password file", KEY, "", "a keystore needs a password that is not empty"],
  ])("ends with 78 and a clear word for %s", async (_what, key, password, words) => {
    const files = ["--key-file", file("key", key), "--password-file", file("pass", password)];
    const ended = await swapd("wallet", "import", "--keystore", join(directory, "new.json"), ...files);
    expect(ended).toMatchObject({ code: 78, out: "", err: expect.stringContaining(words) });
    if (key.trim() !== "") expect(ended.err).not.toContain(key.trim());
  });
});

describe("a key that the daemon cannot use", () => {
  it("is a fault of a file, with the places of keystore and password", async () => {
    const secrets = createSecretOpener({ KEY: "0x12" }, createRedactor());
    const raw = secrets.signer({ kind: "raw", privateKey: { env: "KEY" } });
    await expect(raw).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("variable KEY") });
    const opened = secrets.signer({
      kind: "keystore",
      keystore: { file: file("w.json", keystore("horse")) },
      password: { file: file("pass", "cow") },
    });
    await expect(opened).rejects.toMatchObject({ exitCode: 78, message: expect.stringMatching(/w\.json.*pass.*open/) });
  });
});
