import { z } from "zod";
import { address, map, maybe, secretReference, text } from "../fields.ts";

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
  address: address("an account that is only watched: nothing is signed for it, so the mode is paper or dry-run"),
  delegate,
});

const paperAmount = z
  .union([z.int().min(0), z.string().min(1)], { error: 'needs an amount: 5000, or in quotes with decimals: "0.5"' })
  .transform(String);

const onPaper = z.strictObject({
  paper: z.record(z.string(), paperAmount, { error: "needs amounts by token: { USDC: 5000 }" }).meta({
    description: "what the account has on paper, by token; without the native coin, gas is lent and recorded",
  }),
  address: address("the address that it has on paper; without it one is made of its name").optional(),
});

/** The key of an account that signs proposals and nothing else. */
const delegateKey = z.union([keystore.omit({ delegate: true }), rawKey.omit({ delegate: true })], {
  error: "needs { keystore, password }",
});

const transactionService = map("Safe's Transaction Service, or one with its interface", {
  url: text("its address for this network", "https://api.safe.global/tx-service/base/api"),
  apiKey: maybe(secretReference("its API key"), "without one it allows a few thousand calls a month"),
  delegate: delegateKey.meta({
    description:
      "who proposes: a key of its own, that an owner lists as a proposer in Safe's settings, and that owns nothing",
  }),
});

/** Where the owners of a Safe find what they are asked for. */
const proposals = z.strictObject({
  folder: maybe(
    text("a folder for files that the Transaction Builder of Safe's interface takes", "proposals"),
    "where people bring the proposals to the owners; a folder, a service or both are needed",
  ),
  service: transactionService.optional(),
});

const treasury = z.strictObject({
  safe: address("a Safe, version 1.3.0, 1.4.1 or 1.5.0: swaps are proposed to its owners, who sign and execute them"),
  proposals: proposals.meta({ description: "where the owners find what they are asked for" }),
});

/** An account of the daemon's: with its key, only watched, on paper, or a Safe whose owners sign. */
export const wallet = z.union([keystore, rawKey, watched, onPaper, treasury], {
  error:
    "needs { keystore, password } or { privateKey }, or { safe, proposals }, or on paper { address } or { paper: { USDC: 5000 } }",
});

export type KeyFields = z.output<typeof key>;
/** Where a Safe's owners find what they are asked for, as it is written. */
export type ProposalFields = z.output<typeof proposals>;
