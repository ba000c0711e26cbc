import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { TestChain } from "./chain.ts";
import type { Exchange } from "./exchange.ts";

const CONTRACT = loadContract("GuardedToken");

/** A token behind a proxy that looks at a list of blocked accounts, with plenty of it at the deployer, 6 decimals. */
export async function newGuardedToken(chain: TestChain, exchange: Exchange): Promise<Address> {
  const token = await chain.deploy(loadContract("TokenProxy"), [await chain.deploy(CONTRACT)]);
  const mint = CONTRACT.abi.encodeFunctionData("mint", [chain.deployer, 10n ** 30n]) as Hex;
  await chain.send({ to: token, data: mint });
  await exchange.approve(token, exchange.minter);
  await exchange.approve(token, exchange.settlement);
  return token;
}
