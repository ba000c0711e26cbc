import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encryptKeystoreJsonSync, getAddress } from "ethers";
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
  ])("ends with 1 and a clear word for %s", async (_what, password, words) => {
    const store = file("w.json", keystore("horse"));
    const ended = await swapd("wallet", "address", "--keystore", store, "--password-file", file("pass", password));
    expect(ended).toMatchObject({ code: 1, out: "", err: expect.stringContaining(words) });
    expect(ended.err).toContain("w.json");
  });

  it("opens no keystore that asks for work without end", async () => {
    const { Crypto: crypto, ...rest } = JSON.parse(keystore("horse")) as Record<string, object>;
    const kdfparams = { c: 2 ** 31, dklen: 32, prf: "hmac-sha256", salt: "00".repeat(32) };
    const store = file("w.json", JSON.stringify({ ...rest, crypto: { ...crypto, kdf: "pbkdf2", kdfparams } }));
    const ended = await swapd("wallet", "address", "--keystore", store, "--password-file", file("pass", "horse"));
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("export the key from the wallet that wrote") });
  });

  it("says that an empty password opens a keystore", async () => {
    const store = file("w.json", keystore(""));
    const ended = await swapd("wallet", "address", "--keystore", store, "--password-file", file("pass", "\n"));
    expect(ended).toMatchObject({ code: 0, out: ADDRESS, err: expect.stringContaining("an empty password opens") });
  });

  it("ends with 1 for a file that is no keystore, also without a password", async () => {
    const ended = await swapd("wallet", "address", "--keystore", file("w.json", KEY));
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("not an encrypted Web3 keystore") });
    expect(ended.err).not.toContain(KEY.slice(2));
  });
});

describe("swapd wallet import", () => {
  const add = (key: string, ...more: string[]) => {
    const files = ["--key-file", file("key", key), "--password-file", file("pass", "horse")];
    return swapd("wallet", "import", "--keystore", join(directory, "new.json"), ...files, ...more);
  };

  it("takes a mnemonic in any case and spacing, by its first account or a path, and the keystore opens", async () => {
    const first = await add(` ${MNEMONIC.toUpperCase().replaceAll(" ", "\n")}\n`);
    expect(first).toMatchObject({ code: 0, out: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" });
    expect(first.err).toContain("delete");
    rmSync(join(directory, "new.json"));
    expect(await add(MNEMONIC, "--path", "m/44h/60h/0h/0/1")).toMatchObject({ code: 0, out: ADDRESS });
    const store = join(directory, "new.json");
    expect(statSync(store).mode & 0o777).toBe(0o600);
    const opened = await swapd("wallet", "address", "--keystore", store, "--password-file", join(directory, "pass"));
    expect(opened).toEqual({ code: 0, out: ADDRESS, err: "" });
  });

  it.each([
    ["a mistyped word", MNEMONIC.replace("junk", "junkk"), "word 12 is not in the English list"],
    ["words that changed places", MNEMONIC.replace("test junk", "junk test"), "their checksum is wrong"],
    ["a word too few", MNEMONIC.replace("test ", ""), "has 11 words, and one has 12, 15, 18, 21 or 24"],
    ["a short key", KEY.slice(0, 60), "has 58 hexadecimal digits, not 64"],
    ["an empty key", "\n", "the private key is empty"],
  ])("ends with 1 and a clear word for %s, without a part of it", async (_what, key, words) => {
    const ended = await add(key);
    expect(ended).toMatchObject({ code: 1, out: "", err: expect.stringContaining(words) });
    expect(ended.err).toMatch(/^[^\n]*key: [^\n]+$/);
    for (const part of key.split(/\s+/)) if (part !== "") expect(ended.err.replace(directory, "")).not.toContain(part);
    expect(existsSync(join(directory, "new.json"))).toBe(false);
  });

  it("ends with 2 for a path with a private key, and 1 for a path that is none", async () => {
    expect(await add(KEY, "--path", "m/44'/60'/0'/0/1")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--path chooses an account of a mnemonic"),
    });
    for (const path of ["44'/60'", "m/44'/60'/0'/0/2147483648", "m/44'/x"]) {
      expect(await add(MNEMONIC, "--path", path)).toMatchObject({ code: 1, err: expect.stringContaining("no path") });
    }
  });

  it.each([
    ["an empty password file", "", "pass: a keystore needs a password that is not empty: write one into the file"],
    ["a password file that is not there", undefined, "pass, which does not exist: name the right file"],
  ])("writes nothing and says what to do with %s", async (_what, password, words) => {
    const pass = password === undefined ? join(directory, "pass") : file("pass", password);
    const files = ["--key-file", file("key", KEY), "--password-file", pass];
    const ended = await swapd("wallet", "import", "--keystore", join(directory, "new.json"), ...files);
    expect(ended).toMatchObject({ code: password === undefined ? 2 : 1, out: "", err: expect.stringContaining(words) });
    expect(existsSync(join(directory, "new.json"))).toBe(false);
  });

  it("leaves a keystore that is there, and says when its folder is not", async () => {
    const files = ["--key-file", file("key", KEY), "--password-file", file("pass", "horse")];
    const store = file("w.json", "another key");
    const over = await swapd("wallet", "import", "--keystore", store, ...files);
    expect(over).toMatchObject({ code: 1, err: expect.stringContaining("exists already and is left as it is") });
    expect(readFileSync(store, "utf8")).toBe("another key");
    const nowhere = await swapd("wallet", "import", "--keystore", join(directory, "no/w.json"), ...files);
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("its folder does not exist") });
  });
});

describe("swapd wallet new", () => {
  it("prints an address with its checksum, and a word on copies before it is funded", async () => {
    const store = join(directory, "new.json");
    const made = await swapd("wallet", "new", "--keystore", store, "--password-file", file("pass", "horse"));
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/only copy of the key: keep a copy .* before you fund/),
    });
    expect(getAddress(made.out.toLowerCase())).toBe(made.out);
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
