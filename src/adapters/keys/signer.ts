import { SigningKey, Transaction, TypedDataEncoder, type TypedDataField } from "ethers";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";
import type { Secret } from "../../net/secret.ts";
import type { Signer, UnsignedTransaction } from "../../ports/signer.ts";
import { KeyError } from "./key-error.ts";
import { addressOfKey, readPrivateKey } from "./private-key.ts";

/**
 * Creates a signer from a private key: 64 hexadecimal digits with or without `0x`.
 * @throws KeyError without any part of the key
 */
export function createSigner(privateKey: Secret): Signer {
  const digits = readPrivateKey(privateKey);
  const [key, address] = [new SigningKey(digits), addressOfKey(digits)];
  return {
    address,
    signTransaction: async (transaction) => signTransaction(key, address, transaction),
    signTypedData: async (typedData) => signTypedData(key, typedData),
  };
}

function signTransaction(key: SigningKey, address: Address, fields: UnsignedTransaction): { raw: Hex; hash: Hex } {
  const transaction = Transaction.from({
    type: 2,
    chainId: fields.chainId,
    nonce: fields.nonce,
    to: fields.to,
    data: fields.data,
    value: fields.value,
    gasLimit: fields.gasLimit,
    maxFeePerGas: fields.maxFeePerGas,
    maxPriorityFeePerGas: fields.maxPriorityFeePerGas,
  });
  transaction.signature = key.sign(transaction.unsignedHash);
  const { from, hash, serialized } = transaction;
  // A signature that recovers to another account would spend from nowhere: the process must not go on.
  if (from === null || hash === null || toAddress(from) !== address) {
    throw new Error(`the signed transaction with nonce ${fields.nonce} does not recover to ${address}`);
  }
  return { raw: serialized as Hex, hash: hash as Hex };
}

function signTypedData(key: SigningKey, typedData: TypedData): Hex {
  const types: Record<string, TypedDataField[]> = {};
  for (const [name, fields] of Object.entries(typedData.types)) types[name] = fields.map((field) => ({ ...field }));
  const encoder = TypedDataEncoder.from(types);
  if (encoder.primaryType !== typedData.primaryType) {
    throw new KeyError(
      "unexpected typed data",
      `the types describe ${encoder.primaryType}, not the requested ${typedData.primaryType}: nothing was signed`,
    );
  }
  const digest = TypedDataEncoder.hash({ ...typedData.domain }, types, { ...typedData.message });
  return key.sign(digest).serialized as Hex;
}
