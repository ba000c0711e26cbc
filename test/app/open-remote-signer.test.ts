import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeAddress } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { CommandFailure } from "../../src/app/exit-codes.ts";
import { openRemoteSigner } from "../../src/app/open-remote-signer.ts";
import type { RemoteKeySource } from "../../src/config/configuration.ts";
import type { SecretReference } from "../../src/config/fields.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import { startSignerDouble } from "../support/signer-double/signer-double.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const KEY = `0x${"7".repeat(64)}`;
const FOLDER = join(import.meta.dirname, "../support/signer-double/tls");
const pem = (name: string): string => join(FOLDER, `${name}.pem`);
const text = (name: string): string => readFileSync(pem(name), "utf8");

const open = (reference: SecretReference): Secret =>
  new Secret("file" in reference ? readFileSync(reference.file, "utf8") : reference.env);

/** A signer that lists who may ask it, as web3signer does with its known clients. */
async function beginTls() {
  const double = await startSignerDouble({
    ...{ chainId: 1, keys: [KEY] },
    tls: {
      ...{ cert: text("signer.crt"), key: text("signer.key") },
      ...{ ca: text("swapd.crt"), requestCert: true, rejectUnauthorized: true },
    },
  });
  onTestFinished(double.stop);
  const source = (tls: RemoteKeySource["tls"]): RemoteKeySource => ({
    ...{ kind: "remote", url: double.url, address: toAddress(computeAddress(KEY)) },
    ...{ token: undefined, tls, timeoutMs: 2_000 },
  });
  return { double, source };
}

test("shows a signer who we are, and believes the certificate that is named", async () => {
  const { source } = await beginTls();
  const tls = { certificate: pem("swapd.crt"), key: { file: pem("swapd.key") }, authority: pem("signer.crt") };
  expect(await openRemoteSigner(source(tls), open).whyUnable()).toBeUndefined();
});

test("asks nobody whose certificate is another one, and is no stranger's signer", async () => {
  const { double, source } = await beginTls();
  const ours = { certificate: pem("swapd.crt"), key: { file: pem("swapd.key") } };
  const strange = { certificate: pem("stranger.crt"), key: { file: pem("stranger.key") } };
  for (const tls of [
    { ...ours, authority: pem("stranger.crt") },
    { ...ours, authority: undefined },
    { ...strange, authority: pem("signer.crt") },
    undefined,
  ]) {
    expect((await openRemoteSigner(source(tls), open).whyUnable())?.code).toBe("away");
  }
  expect(double.asked).toEqual([]);
});

test("says which files do not fit, and nothing of what is in them", async () => {
  const { source } = await beginTls();
  const missing = { certificate: pem("nobody.crt"), key: { file: pem("swapd.key") }, authority: undefined };
  expect(() => openRemoteSigner(source(missing), open)).toThrow(/nobody\.crt\.pem cannot be read \(ENOENT\)/);
  const apart = { certificate: pem("swapd.crt"), key: { file: pem("stranger.key") }, authority: undefined };
  expect(() => openRemoteSigner(source(apart), open)).toThrow(CommandFailure);
  const garbage = join(temporaryDirectory(), "key.pem");
  writeFileSync(garbage, "hush-hush");
  const broken = { certificate: pem("swapd.crt"), key: { file: garbage }, authority: undefined };
  expect(() => openRemoteSigner(source(broken), open)).toThrow(/are no pair in PEM/);
  expect(() => openRemoteSigner(source(broken), open)).not.toThrow(/hush/);
});

test("goes on without a new start when certificates were renewed, and not with a half of them", async () => {
  const folder = temporaryDirectory();
  const own = (name: string): string => join(folder, name);
  const write = (name: string, from: string): void => writeFileSync(own(name), text(from));
  const { double, source } = await beginTls();
  const tls = { certificate: own("us.crt"), key: { file: own("us.key") }, authority: own("signer.crt") };
  for (const [name, from] of [
    ["us.crt", "stranger.crt"],
    ["us.key", "stranger.key"],
    ["signer.crt", "stranger.crt"],
  ])
    write(String(name), String(from));
  const signer = openRemoteSigner(source(tls), open);
  expect((await signer.whyUnable())?.code).toBe("away");
  write("signer.crt", "signer.crt");
  write("us.crt", "swapd.crt");
  expect((await signer.whyUnable())?.code, "the key is of the other pair still").toBe("away");
  write("us.key", "swapd.key");
  expect(await signer.whyUnable()).toBeUndefined();
  expect(double.asked.map(({ method }) => method)).toEqual(["eth_accounts"]);
});

test("takes a new token from its file once the old one is refused", async () => {
  const double = await startSignerDouble({ chainId: 1, keys: [KEY] });
  onTestFinished(double.stop);
  const file = join(temporaryDirectory(), "token");
  writeFileSync(file, "old");
  let valid = "Bearer old";
  const refused = { status: 401, body: "" };
  double.misbehave = { answer: () => (double.asked.at(-1)?.headers.authorization === valid ? undefined : refused) };
  const source = { kind: "remote", url: double.url, address: toAddress(computeAddress(KEY)), tls: undefined } as const;
  const signer = openRemoteSigner({ ...source, token: { file }, timeoutMs: 2_000 }, open);
  expect(await signer.whyUnable()).toBeUndefined();
  valid = "Bearer new";
  expect((await signer.whyUnable())?.code).toBe("refused");
  writeFileSync(file, "new");
  expect(await signer.whyUnable()).toBeUndefined();
});
