import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeAddress, encryptKeystoreJsonSync } from "ethers";

/** An account of every test chain: nothing of it is secret. */
const KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const PASSWORD = "of tests alone";

/** Writes a keystore that opens, with little work, and the file with its password. */
export function writeWallet(folder: string, privateKey: string = KEY): void {
  const account = { address: computeAddress(privateKey), privateKey };
  const keystore = encryptKeystoreJsonSync(account, PASSWORD, { scrypt: { N: 2 } });
  writeFileSync(join(folder, "wallet.json"), keystore, { mode: 0o600 });
  writeFileSync(join(folder, "wallet.pass"), PASSWORD, { mode: 0o600 });
}
