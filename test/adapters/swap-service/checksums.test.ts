import { describe, expect, it } from "vitest";
import { flyProfile } from "../../../src/adapters/swap-service/fly/service.ts";
import { swapdProfile } from "../../../src/adapters/swap-service/swapd/service.ts";
import { createReader } from "../../../src/adapters/swap-service/wire-reader.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { decodedSample, WETH } from "../../domain/guard/swap-samples.ts";

/** From EIP-55. */
const RIGHT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const WRONG = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD";
const UPPER = `0x${RIGHT.slice(2).toUpperCase()}`;
const ADDRESS = toAddress(RIGHT);

const pinned = { chainId: 31337, contracts: oneContract(ADDRESS), wrappedNative: WETH };
const swap = decodedSample({
  ...{ contracts: oneContract(ADDRESS), sender: ADDRESS, recipient: ADDRESS, fromAsset: ADDRESS, toAsset: ADDRESS },
  affiliate: { address: ADDRESS, fee: 1n },
});

describe.each([
  ["swapd", swapdProfile],
  ["fly", flyProfile],
])("typed data of %s", (_name, profile) => {
  const typedData = profile.typedData(swap, pinned);
  const decode = (change: Partial<TypedData>) => profile.decodeTypedData({ ...typedData, ...change }, pinned);

  it.each(["router", "sender", "recipient", "fromAsset", "toAsset", "affiliate"])(
    "an address with a wrong checksum is refused as its %s, right and absent checksums are taken",
    (field) => {
      for (const taken of [RIGHT, UPPER, ADDRESS]) {
        expect(decode({ message: { ...typedData.message, [field]: taken } })).toMatchObject({ ok: true });
      }
      expect(decode({ message: { ...typedData.message, [field]: WRONG } })).toEqual({
        ok: false,
        problem: `the message's ${field} is no address with a right checksum: ${WRONG}`,
      });
    },
  );

  it("an address with a wrong checksum is refused as the contract of its domain", () => {
    expect(decode({ domain: { ...typedData.domain, verifyingContract: RIGHT } })).toMatchObject({ ok: true });
    expect(decode({ domain: { ...typedData.domain, verifyingContract: WRONG } })).toMatchObject({ ok: false });
  });
});

it("an address with a wrong checksum is refused in the fields of an answer", () => {
  for (const taken of [RIGHT, UPPER, ADDRESS]) {
    expect(createReader({ to: taken }, "transaction").address("to")).toBe(ADDRESS);
  }
  const reader = createReader({ to: WRONG }, "transaction");
  expect(reader.address("to")).toBeUndefined();
  expect(reader.problem()).toBe(`transaction.to is no address with a right checksum: ${WRONG}`);
});
