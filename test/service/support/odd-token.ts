import { type Address, type Hex, NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { TestChain } from "./chain.ts";
import type { Exchange } from "./exchange.ts";

const CONTRACT = loadContract("OddToken");

/** Habits as the contract takes them; without any it is an ordinary token. Shares in millionths. */
const GOOD = {
  taxOnBuying: 0n,
  taxOnSelling: 0n,
  taxOnPulling: 0n,
  surcharge: 0n,
  rate: 10n ** 18n,
  pool: NATIVE_TOKEN as Address,
  blocked: NATIVE_TOKEN as Address,
  unsellable: false,
  paused: false,
  asksPool: false,
  refusesSilently: false,
};
export type Habits = Partial<typeof GOOD>;

/** A token that behaves until it is told to do otherwise, with plenty of it at the deployer and allowed to the minter. */
export async function newOddToken(chain: TestChain, exchange: Exchange): Promise<Address> {
  const token = await chain.deploy(CONTRACT);
  const mint = CONTRACT.abi.encodeFunctionData("mint", [chain.deployer, 10n ** 30n]) as Hex;
  await chain.send({ to: token, data: mint });
  await exchange.approve(token, exchange.minter);
  return token;
}

/** Takes on these habits and drops all others. */
export async function setHabits(chain: TestChain, token: Address, habits: Habits): Promise<void> {
  const data = CONTRACT.abi.encodeFunctionData("setHabits", [{ ...GOOD, ...habits }]) as Hex;
  await chain.send({ to: token, data });
}
