import { recoverAddress } from "ethers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DecodedSwap } from "../../src/domain/guard/decoded-swap.ts";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import { NATIVE_TOKEN } from "../../src/domain/money/address.ts";
import type { UnsignedTransaction } from "../../src/ports/signer.ts";
import { type HostileService, startHostileService } from "../support/hostile-service.ts";
import { keccak256 } from "../support/keccak.ts";
import { encodeRlp, type Rlp, rlpBytes, rlpInteger } from "../support/rlp.ts";
import { typedDataDigest } from "../support/typed-data-digest.ts";
import { type Judgement, judge } from "./judge.ts";
import { mutationsFor, withValue } from "./mutations.ts";
import {
  ATTACKER,
  CHAIN_ID,
  GROSS,
  honestOrder,
  NOW,
  OWNER,
  OWNER_WALLET,
  payloadsFor,
  ROUTER,
  SCENARIOS,
  type Scenario,
  USDC,
} from "./scenario.ts";

let service: HostileService;

beforeAll(async () => {
  service = await startHostileService();
});

afterAll(() => service.stop());

const nameOf = (scenario: Scenario): string =>
  `${scenario.profile}, ${scenario.mode}${scenario.affiliate ? ", with an affiliate" : ""}`;

/** The digests that may be signed in a scenario, built from what was asked for and nothing else. */
function allowedDigests(scenario: Scenario): string[] {
  const order = honestOrder(scenario);
  const address = ["router", "sender", "recipient", "fromAsset", "toAsset"];
  const number = [
    "deadline",
    "amountOutMin",
    "swapFee",
    "amountIn",
    ...(scenario.profile === "swapd" ? ["nonce"] : []),
  ];
  const affiliate = order.affiliate === undefined ? [] : ["affiliate", "affiliateFee"];
  const values: Record<string, unknown> = {
    ...order,
    affiliate: order.affiliate?.address,
    affiliateFee: order.affiliate?.fee,
  };
  const names = [...address, ...number, ...affiliate];
  const isAddress = (name: string): boolean => address.includes(name) || name === "affiliate";
  const swap: TypedData = {
    domain: {
      ...(scenario.profile === "swapd" ? { name: "swapd", version: "1" } : { name: "Magpie Router", version: "3" }),
      chainId: CHAIN_ID,
      verifyingContract: ROUTER,
    },
    types: { Swap: names.map((name) => ({ name, type: isAddress(name) ? "address" : "uint256" })) },
    primaryType: "Swap",
    message: Object.fromEntries(names.map((name) => [name, values[name]])),
  };
  const permit: TypedData = {
    domain: { name: "USD Coin", version: "1", chainId: CHAIN_ID, verifyingContract: USDC },
    types: {
      Permit: [
        { name: "owner", type: "address" },
        { name: "spender", type: "address" },
        { name: "value", type: "uint256" },
        { name: "nonce", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "Permit",
    message: { owner: OWNER, spender: ROUTER, value: GROSS, nonce: 5n, deadline: NOW + 120 },
  };
  return [typedDataDigest(swap), typedDataDigest(permit)];
}

/** The hash that an EIP-1559 transaction's signature covers. */
function transactionDigest(transaction: UnsignedTransaction): string {
  const fields: Rlp = [
    rlpInteger(BigInt(transaction.chainId)),
    rlpInteger(BigInt(transaction.nonce)),
    rlpInteger(transaction.maxPriorityFeePerGas),
    rlpInteger(transaction.maxFeePerGas),
    rlpInteger(transaction.gasLimit),
    rlpBytes(transaction.to),
    rlpInteger(transaction.value),
    rlpBytes(transaction.data),
    [],
  ];
  const hash = keccak256(Buffer.concat([Uint8Array.of(2), encodeRlp(fields)]));
  return `0x${Buffer.from(hash).toString("hex")}`;
}

function signedDigests(judgement: Judgement): string[] {
  return judgement.kind === "signed" ? judgement.typedData.map(({ typedData }) => typedDataDigest(typedData)) : [];
}

describe.each(SCENARIOS.map((scenario) => [nameOf(scenario), scenario] as const))(
  "a service (%s)",
  (_name, scenario) => {
    it("that tells the truth gets exactly the signatures that were meant, and no others", async () => {
      const judgement = await judge(service, scenario, payloadsFor(scenario));
      if (judgement.kind !== "signed") throw new Error(`denied: ${judgement.code} ${judgement.detail}`);
      if (scenario.mode === "gasless") {
        expect(signedDigests(judgement)).toEqual(allowedDigests(scenario));
        for (const { typedData, signature } of judgement.typedData) {
          expect(recoverAddress(typedDataDigest(typedData), signature)).toBe(OWNER_WALLET.address);
        }
        return;
      }
      const { transaction } = judgement;
      if (transaction === undefined) throw new Error("no transaction was signed");
      expect(transaction.unsigned).toMatchObject({
        to: ROUTER,
        value: 0n,
        data: payloadsFor(scenario).transaction?.data,
      });
      const raw = transaction.raw.slice(2);
      const signature = `0x${raw.slice(-130, -66)}${raw.slice(-64)}`;
      const recovered = [27, 28].map((v) =>
        recoverAddress(transactionDigest(transaction.unsigned), `${signature}${v.toString(16)}`),
      );
      expect(recovered).toContain(OWNER_WALLET.address);
    });

    const mutations = mutationsFor(scenario);

    it("is lied about in every field at least three times", () => {
      const lies = Map.groupBy(mutations, (mutation) => mutation.field.replace(/\.(?:Swap|types)\..*$/, ".types"));
      for (const [field, told] of lies) {
        if (!field.startsWith("quote.typedData.message.")) expect(told.length, field).toBeGreaterThanOrEqual(3);
      }
    });

    it("gets no signature for any lie", async () => {
      for (const { field, name, payloads } of mutations) {
        const judgement = await judge(service, scenario, payloads);
        expect(judgement.kind, `${field} is ${name}`).toBe("denied");
      }
    });

    if (scenario.affiliate) {
      it("gets nothing else signed, whatever stands in any field of its answers", () => sweepFields(scenario));
    }
    if (scenario.mode === "self-executed") {
      it("gets nothing but the meant order signed, whichever byte of the calldata is changed", () =>
        sweepBytes(scenario));
    }
  },
);

/** Puts junk into every field of the answers, leaves and branches alike. */
async function sweepFields(scenario: Scenario): Promise<void> {
  const honest = payloadsFor(scenario);
  const control = await judge(service, scenario, honest);
  if (control.kind !== "signed") throw new Error("the honest answers were denied");
  const junk = [null, "", "0", "-1", "1e30", 0, 1e30, true, [], {}, ATTACKER, "0x", "x".repeat(300), "\u0000"];
  for (const [part, source] of Object.entries(honest)) {
    for (const path of leavesOf(source ?? {})) {
      for (const value of junk) {
        const payloads = { ...honest, [part]: withValue(source ?? {}, path, value) };
        const judgement = await judge(service, scenario, payloads);
        if (judgement.kind === "denied") continue;
        expect(withinFreedom(judgement.swap, control.swap), `${part}.${path.join(".")}`).toEqual(control.swap);
        if (judgement.transaction !== undefined) expect(judgement.transaction).toEqual(control.transaction);
      }
    }
  }
}

/** Changes single bytes of the calldata. */
async function sweepBytes(scenario: Scenario): Promise<void> {
  const honest = payloadsFor(scenario);
  const control = await judge(service, scenario, honest);
  const { transaction } = honest;
  if (control.kind !== "signed" || transaction === undefined) throw new Error("the honest answers were denied");
  const data = String(transaction.data);
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: (data.length - 4) / 2 }),
    fc.integer({ min: 1, max: 255 }),
    async (at, mask) => {
      const byte = (Number.parseInt(data.slice(2 + at * 2, 4 + at * 2), 16) ^ mask).toString(16).padStart(2, "0");
      const changed = `${data.slice(0, 2 + at * 2)}${byte}${data.slice(4 + at * 2)}`;
      const payloads = { ...honest, transaction: { ...transaction, data: changed } };
      const judgement = await judge(service, scenario, payloads);
      if (judgement.kind === "denied") return true;
      const { amountOutMin } = judgement.swap;
      const bound = { ...judgement.swap, amountOutMin: control.swap.amountOutMin };
      expect(withinFreedom(bound, control.swap)).toEqual(control.swap);
      return amountOutMin >= control.swap.amountOutMin;
    },
  );
  await fc.assert(property, { numRuns: 200 });
}

/**
 * The service chooses who relays (not us, not nobody), the nonce, and the deadline within bounds. None of these changes
 * what may leave or must arrive.
 */
function withinFreedom(swap: DecodedSwap, control: DecodedSwap): DecodedSwap {
  expect([OWNER, NATIVE_TOKEN]).not.toContain(swap.sender);
  expect(swap.deadline > BigInt(NOW) && swap.deadline <= BigInt(NOW + 300)).toBe(true);
  const nonce = swap.nonce === undefined ? undefined : control.nonce;
  return { ...swap, sender: control.sender, deadline: control.deadline, nonce };
}

function leavesOf(value: object, path: readonly string[] = []): string[][] {
  return Object.entries(value).flatMap(([key, child]) => {
    const here = [...path, key];
    return typeof child === "object" && child !== null ? [here, ...leavesOf(child, here)] : [here];
  });
}
