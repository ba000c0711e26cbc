import { recoverAddress } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import type { UnsignedTransaction } from "../../src/ports/signer.ts";
import { type HostileService, startHostileService } from "../support/hostile-service.ts";
import { keccak256 } from "../support/keccak.ts";
import { encodeRlp, type Rlp, rlpBytes, rlpInteger } from "../support/rlp.ts";
import { typedDataDigest } from "../support/typed-data-digest.ts";
import { type Judgement, judge } from "./judge.ts";
import { mutationsFor } from "./mutations.ts";
import {
  CHAIN_ID,
  GROSS,
  honestOrder,
  NOW,
  nameOf,
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
    it("that reports the truth gets exactly the signatures that were meant, and no others", async () => {
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
      for (const [field, reported] of lies) {
        if (!field.startsWith("quote.typedData.message.")) expect(reported.length, field).toBeGreaterThanOrEqual(3);
      }
    });

    it("gets no signature for any lie", async () => {
      for (const { field, name, payloads } of mutations) {
        const judgement = await judge(service, scenario, payloads);
        expect(judgement.kind, `${field} is ${name}`).toBe("denied");
      }
    });
  },
);
