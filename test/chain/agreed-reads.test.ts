import { expect, test } from "vitest";
import { systemClock } from "../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../src/chain/chain.ts";
import { Secret } from "../../src/net/secret.ts";
import { ANVIL_ACCOUNT, OTHER_ACCOUNT, startBareAnvil } from "../support/bare-anvil.ts";
import { deploy } from "../support/contracts.ts";
import { ERC20 } from "../support/fake-ledger.ts";

test("the highest allowance is the most that any endpoint shows, whichever comes first and whatever the others say", async () => {
  const anvils = [await startBareAnvil(), await startBareAnvil()];
  const tokens = [];
  for (const anvil of anvils) tokens.push((await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6])).address);
  const [token, same] = tokens;
  if (token === undefined || token !== same) throw new Error("both chains have the token at the same place");
  const [one] = anvils;
  const data = ERC20.encodeFunctionData("approve", [OTHER_ACCOUNT, 5n]);
  await one?.rpc.call("eth_sendTransaction", [{ from: ANVIL_ACCOUNT, to: token, data }]);
  for (const anvil of anvils) await anvil.mine();
  for (const order of [anvils, anvils.toReversed()]) {
    const rpcUrls = order.map(({ url }) => new Secret(url));
    const reads = await createChain({ rpcUrls, chainId: 31337 }, { clock: systemClock }).agreed();
    const grant = { token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT };
    expect(await reads.highestAllowance(grant, reads.latest.number)).toBe(5n);
    await expect(reads.allowance(grant, reads.latest.number)).rejects.toThrow("disagree");
  }
});

test("an endpoint whose final block is hours older than another's is named, and one that is minutes behind is not", async () => {
  const [ahead, behind] = [await startBareAnvil(), await startBareAnvil()];
  const rpcUrls = [ahead, behind].map(({ url }) => new Secret(url));
  const chain = createChain({ rpcUrls, chainId: 31337 }, { clock: systemClock });
  // Both have a newest block of now; the final one, two below it, is new on one of them alone.
  const passTime = async (seconds: number): Promise<void> => {
    for (const anvil of [ahead, behind]) {
      await anvil.mine(3);
      await anvil.rpc.call("evm_increaseTime", [seconds]);
    }
    await ahead.mine(3);
    await behind.mine();
  };
  await passTime(600);
  expect((await (await chain.agreed()).finalized()).heldBack).toBeUndefined();
  await passTime(7_200);
  const { heldBack, number } = await (await chain.agreed()).finalized();
  expect(heldBack).toMatch(new RegExp(`calls final is ${number}, 1[12]\\d minutes older than block \\d+ of`));
});
