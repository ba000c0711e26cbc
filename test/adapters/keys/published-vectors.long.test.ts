import { computeAddress, decryptKeystoreJson } from "ethers";
import { expect, test } from "vitest";
import { openKeystore, writeKeystore } from "../../../src/adapters/keys/keystore.ts";
import { Secret } from "../../../src/net/secret.ts";
import { ADDRESS, SCRYPT } from "./published-vectors.ts";

// Seconds of work: eight times what a usual keystore costs, without the system's own function.
test("the published vector of scrypt opens, whose cost is beyond what the system's function takes", async () => {
  const signer = await openKeystore({ json: JSON.stringify(SCRYPT), password: new Secret("testpassword") });
  expect(signer.address).toBe(ADDRESS);
}, 120_000);

test("a keystore of ours opens in another library, with its address", async () => {
  const privateKey = `0x${"4c".repeat(32)}`;
  const text = await writeKeystore({ privateKey: new Secret(privateKey), password: new Secret("ﬁne words") });
  const opened = await decryptKeystoreJson(text, "fine words");
  expect(opened).toMatchObject({ privateKey, address: computeAddress(privateKey) });
});
