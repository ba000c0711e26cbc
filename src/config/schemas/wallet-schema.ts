import { z } from "zod";
import { address, secretReference } from "../fields.ts";

const delegate = address("the contract that the account is known to delegate to (EIP-7702)").optional();

const keystore = z.strictObject({
  keystore: secretReference("the encrypted Web3 keystore file"),
  password: secretReference("the keystore's password"),
  address: address("the account's address; without it the keystore file is asked").optional(),
  delegate,
});

const rawKey = z.strictObject({
  privateKey: secretReference("a raw private key; by environment only, in the sandbox or with an explicit flag"),
  delegate,
});

/** How an account's key is given. */
export const key = z.union([keystore, rawKey], { error: "needs { keystore, password } or { privateKey }" });

const watched = z.strictObject({
  address: address("an account that is only watched: nothing is signed for it, so the mode is dry-run"),
  delegate,
});

/** An account of the daemon's: with its key, or only watched. */
export const wallet = z.union([keystore, rawKey, watched], {
  error: "needs { keystore, password } or { privateKey }, or in a dry run { address }",
});

export type KeyFields = z.output<typeof key>;
