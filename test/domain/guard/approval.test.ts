import { Interface } from "ethers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { approval } from "../../../src/domain/guard/approval.ts";
import { toAddress } from "../../../src/domain/money/address.ts";

const ERC20 = new Interface(["function approve(address spender, uint256 amount) returns (bool)"]);

test("an approval is encoded as the ABI has it", () => {
  const spenders = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("hex"));
  fc.assert(
    fc.property(spenders, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (digits, amount) => {
      const spender = toAddress(`0x${digits}`);
      expect(approval(spender, amount)).toBe(ERC20.encodeFunctionData("approve", [spender, amount]));
    }),
  );
});
