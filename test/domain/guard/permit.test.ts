import { describe, expect, it } from "vitest";
import { buildPermit, type PermitTerms } from "../../../src/domain/guard/permit.ts";
import { OWNER, ROUTER, STRANGER, USDC } from "./swap-samples.ts";

const terms: PermitTerms = {
  chainId: 31337,
  token: USDC,
  owner: OWNER,
  spender: ROUTER,
  value: 100_000_000n,
  deadlineSeconds: 1_700_000_300n,
};
const domain = { name: "USD Coin", version: "1", chainId: 31337n, verifyingContract: USDC };

describe("the permit of a gasless swap", () => {
  it("says exactly whom it lets spend how much until when", () => {
    const built = buildPermit({ domain, nonce: 3n }, terms);
    expect(built).toEqual({
      ok: true,
      typedData: {
        domain,
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
        message: { owner: OWNER, spender: ROUTER, value: "100000000", nonce: "3", deadline: "1700000300" },
      },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ["another chain", { ...domain, chainId: 1n }],
    ["no chain", { name: "USD Coin", version: "1", verifyingContract: USDC }],
    ["another contract", { ...domain, verifyingContract: STRANGER }],
    ["no contract", { name: "USD Coin", version: "1", chainId: 31337n }],
    ["a field that nobody knows", { ...domain, extra: "1" }],
  ])("is not built for a domain of %s", (_name, other) => {
    const built = buildPermit({ domain: other, nonce: 3n }, terms);
    expect(built).toMatchObject({ ok: false, denial: { code: "PERMIT_UNSUPPORTED" } });
  });

  it("is not built for a token that proves no domain", () => {
    expect(buildPermit(undefined, terms)).toMatchObject({ ok: false, denial: { code: "PERMIT_UNSUPPORTED" } });
  });
});
