import { z } from "zod";
import { address, map, maybe, or, secretReference, text } from "../fields.ts";
import { milliseconds } from "../units.ts";

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

const remote = z.strictObject({
  signer: map("a signer with web3signer's interface (JSON-RPC over HTTP), which holds the key", {
    url: text("its address", "https://127.0.0.1:9000"),
    address: address("the account that it signs for"),
    token: maybe(secretReference("a bearer token"), "for a proxy in front of it: web3signer itself asks for none"),
    tls: maybe(
      z.strictObject({
        certificate: text("our certificate, which the signer knows: a PEM file", "swapd.crt"),
        key: secretReference("its key, PEM"),
        authority: maybe(
          text(
            "the certificate that the signer's own is believed by, instead of the system's: a PEM file",
            "signer.crt",
          ),
          "needed where the signer's certificate is its own",
        ),
      }),
      "who we are for it (mutual TLS), where it lists whom it signs for",
    ),
    // Below, a slow vault never answers in time; above, a hanging one is noticed too late.
    timeout: or(milliseconds("how long one answer may take", "10s", ["1s", "60s"]), 10_000),
  }),
  delegate,
});

/** How an account's key is given. */
export const key = z.union([keystore, rawKey, remote], {
  error: "needs { keystore, password } or { privateKey } or { signer }",
});

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

/** An account of the daemon's: with its key, with a signer that has it, only watched, on paper, or a Safe whose owners sign. */
export const wallet = z.union([keystore, rawKey, remote, watched, onPaper, treasury], {
  error:
    "needs { keystore, password } or { privateKey }, or { signer }, or { safe, proposals }, or on paper { address } or { paper: { USDC: 5000 } }",
});

export type KeyFields = z.output<typeof key>;
/** Where a Safe's owners find what they are asked for, as it is written. */
export type ProposalFields = z.output<typeof proposals>;
