import { expect, test } from "vitest";
import { createSigner } from "../../../src/adapters/keys/signer.ts";
import { createProposer } from "../../../src/adapters/proposals/proposer.ts";
import { digestOf } from "../../../src/app/encoding.ts";
import { policyMark } from "../../../src/domain/guard/policy.ts";
import { proposedCalls, safeTypedData } from "../../../src/domain/guard/safe-transaction.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { signProposal } from "../../../src/engine/perform/sign-proposal.ts";
import { registerStrategies } from "../../../src/engine/register-strategies.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import { HUNDRED_USDC, NOW_MS, policySample, ROUTER, runSample, swapSample, USDC } from "../../support/builders.ts";
import { addRun } from "../../support/daemon-database.ts";
import { ACCOUNT, createOutside, openLife } from "../../support/engine-life.ts";

const CHAIN_ID = 31_337;
const key = createSigner(new Secret(`0x${"de".repeat(32)}`));

const swapCall = { to: ROUTER, value: 0n, data: "0x12345678" } as const;
const of = { safe: ACCOUNT, place: "run_1.0", token: USDC.address, spender: ROUTER, gross: HUNDRED_USDC };
const calls = proposedCalls({ ...of, isAllowed: false, swap: swapCall });
const proposed = safeTypedData({ chainId: CHAIN_ID, safe: ACCOUNT, version: "1.4.1", nonce: 3n, calls });

async function begin({
  journaled = proposed,
  deadlineSeconds = Math.floor(NOW_MS / 1_000) + 60,
  policy = undefined as number | undefined,
} = {}) {
  const signed: TypedData[] = [];
  const counting: Signer = {
    ...key,
    signTypedData: async (typedData) => {
      signed.push(typedData);
      return await key.signTypedData(typedData);
    },
  };
  const proposer = createProposer(counting, { safe: ACCOUNT, chainId: CHAIN_ID });
  const publish = async () => ({ kind: "published" }) as const;
  const treasury = { safe: ACCOUNT, bindsNonce: true, proposer, publish, freeNonce: async (next: bigint) => next };
  const life = openLife(createOutside(NOW_MS), { treasury });
  await registerStrategies(life.context);
  const digest = digestOf(proposed);
  const swap = swapSample({
    ...{ state: "cleared", mode: "self-executed", wallet: ACCOUNT, recipient: ACCOUNT },
    terms: {
      ...{ contracts: oneContract(ROUTER), amountOutMin: 1n, swapFee: 0n, affiliateFee: 0n },
      ...{ deadlineSeconds, nonce: undefined, fromBlock: 1, policy },
    },
    signatures: {
      ...{ swapDigest: digest, swapSignature: undefined, permitDigest: undefined },
      ...{ permitSignature: undefined, permitDeadlineSeconds: undefined },
    },
    proposal: { version: "1.4.1", nonce: 3n, isBoundToNonce: true, since: { block: 1, nonce: 3n } },
  });
  const run = addRun(life.store, runSample({ swaps: [swap] }));
  const intent = { kind: "intend-signature", swapId: swap.id, purpose: "swap", digest } as const;
  life.store.writeRecord(run, { ...intent, typedData: JSON.stringify(journaled), validUntilSeconds: 1 }, 1);
  return { life, signed, sign: () => signProposal(life.context, run, swap) };
}

test("the delegate signs what was written down, and the same again after a kill", async () => {
  const { signed, sign } = await begin();
  const first = await sign();
  expect(first).toMatchObject({ kind: "signed-gasless", swapSignature: await key.signTypedData(proposed) });
  expect(await sign()).toEqual(first);
  expect(signed.map(digestOf)).toEqual([digestOf(proposed), digestOf(proposed)]);
});

test("the delegate signs nothing where trading was halted since the proposal passed the policy", async () => {
  const { life, signed, sign } = await begin();
  life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "stop", atMs: 1 });
  const barred = await sign();
  expect(barred).toMatchObject({ kind: "signing-barred", detail: "halted by ops: stop" });
  expect(barred).not.toHaveProperty("isLate");
  expect(signed).toEqual([]);
});

test("the delegate signs nothing that was checked by another policy", async () => {
  const { signed, sign } = await begin({ policy: policyMark(policySample()) });
  expect(await sign()).toMatchObject({ kind: "signing-barred", detail: "the policy was edited since it was checked" });
  expect(signed).toEqual([]);
  const same = await begin({ policy: policyMark(policySample({ recipients: [ACCOUNT] })) });
  expect(await same.sign()).toMatchObject({ kind: "signed-gasless" });
});

test("the delegate signs nothing that could hardly be executed any more", async () => {
  const { signed, sign } = await begin({ deadlineSeconds: Math.floor(NOW_MS / 1_000) + 1 });
  const late = { kind: "signing-barred", detail: expect.stringContaining("too near or past"), isLate: true };
  expect(await sign(), "its run may try again while its window is open").toMatchObject(late);
  expect(signed).toEqual([]);
});

test("the delegate signs nothing that differs from what was written down", async () => {
  const message = { ...proposed.message, nonce: "4" };
  const { signed, sign } = await begin({ journaled: { ...proposed, message } });
  await expect(sign()).rejects.toThrow("does not have the hash");
  expect(signed).toEqual([]);
});
