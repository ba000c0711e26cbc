import { recoverAddress, Transaction, TypedDataEncoder, verifyTypedData } from "ethers";
import { expect, test } from "vitest";
import { KeyError } from "../../../src/adapters/keys/key-error.ts";
import { generatePrivateKey, openKeystore, writeKeystore } from "../../../src/adapters/keys/keystore.ts";
import { createSigner } from "../../../src/adapters/keys/signer.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";

const key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const address = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const transaction = {
  chainId: 31337,
  nonce: 5,
  to: toAddress("0x00000000000000000000000000000000000000aa"),
  data: "0x0102" as const,
  value: 7n,
  gasLimit: 90_000n,
  maxFeePerGas: 30n,
  maxPriorityFeePerGas: 2n,
};
const typedData = {
  domain: { name: "swapd", version: "1", chainId: 31337n, verifyingContract: transaction.to },
  types: { Order: [{ name: "amount", type: "uint256" }] },
  primaryType: "Order",
  message: { amount: String(2n ** 255n) },
};

test("the same transaction gives the same bytes after a restart, with every field as asked", async () => {
  const first = await createSigner(new Secret(key)).signTransaction(transaction);
  const second = await createSigner(new Secret(key.slice(2))).signTransaction(transaction);
  expect(second).toEqual(first);
  const read = Transaction.from(first.raw);
  expect(toAddress(read.from!)).toBe(address);
  expect(read.hash).toBe(first.hash);
  expect(read).toMatchObject({ type: 2, nonce: 5, value: 7n, gasLimit: 90_000n, maxFeePerGas: 30n, chainId: 31337n });
});

test("typed data is signed for exactly the type that was asked for", async () => {
  const signer = createSigner(new Secret(key));
  const signature = await signer.signTypedData(typedData);
  expect(signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/);
  expect(BigInt(`0x${signature.slice(66, 130)}`) <= 2n ** 255n).toBe(true);
  const { domain, types, message } = typedData;
  expect(toAddress(verifyTypedData(domain, types, message, signature))).toBe(address);
  expect(recoverAddress(TypedDataEncoder.hash(domain, types, message), signature).toLowerCase()).toBe(address);
  await expect(signer.signTypedData({ ...typedData, primaryType: "Permit" })).rejects.toThrow(/describe Order, not/);
});

test("a bad key is never printed", () => {
  const bad = [
    `${key}ff`,
    key.slice(0, 40),
    "correct horse battery staple",
    `0x${"f".repeat(64)}`,
    `0x${"0".repeat(64)}`,
  ];
  for (const text of bad) {
    let shown = "";
    try {
      createSigner(new Secret(text));
    } catch (error) {
      expect(error).toBeInstanceOf(KeyError);
      shown = `${String(error)} ${(error as Error).stack} ${JSON.stringify(error)}`;
    }
    expect(shown).toContain("private key");
    expect(shown).not.toContain(text);
  }
});

test("a keystore opens with its password only, and errors say neither password nor content", async () => {
  const password = new Secret("correct horse");
  const json = await writeKeystore({ privateKey: new Secret(key), password });
  expect(json).not.toContain(key.slice(2));
  expect((await openKeystore({ json, password })).address).toBe(address);
  const wrong = openKeystore({ json, password: new Secret("battery staple") });
  await expect(wrong).rejects.toThrow(
    new KeyError("wrong password", "the password does not open the keystore: compare the two with your copies"),
  );
  const damaged = json.replace(/"ciphertext":"../, '"ciphertext":"zz');
  const error = await openKeystore({ json: damaged, password }).catch((thrown: Error) => thrown);
  expect(String(error)).not.toMatch(/zz|correct/);
  await expect(openKeystore({ json: "{}", password })).rejects.toThrow(/not an encrypted Web3 keystore/);
  await expect(writeKeystore({ privateKey: new Secret(key), password: new Secret("") })).rejects.toThrow(/not empty/);
}, 30_000);

test("generated keys differ and are usable", () => {
  const [a, b] = [generatePrivateKey(), generatePrivateKey()];
  expect(a.reveal()).not.toBe(b.reveal());
  expect(createSigner(a).address).toMatch(/^0x[0-9a-f]{40}$/);
});
