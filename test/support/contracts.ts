import { readFileSync } from "node:fs";
import { ContractFactory, Interface, type InterfaceAbi } from "ethers";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import type { BareAnvil } from "./bare-anvil.ts";
import { ANVIL_ACCOUNT } from "./bare-anvil.ts";

/** Sends a transaction of one of anvil's own accounts and mines it. @returns its receipt's fields */
export async function sendAndMine(
  anvil: BareAnvil,
  transaction: { to?: Address; data?: Hex; value?: bigint; from?: Address },
): Promise<Record<string, unknown>> {
  const fields = {
    from: transaction.from ?? ANVIL_ACCOUNT,
    gas: "0x7a1200",
    ...(transaction.to === undefined ? {} : { to: transaction.to }),
    ...(transaction.data === undefined ? {} : { data: transaction.data }),
    ...(transaction.value === undefined ? {} : { value: `0x${transaction.value.toString(16)}` }),
  };
  const hash = await anvil.rpc.call("eth_sendTransaction", [fields]);
  await anvil.mine();
  const receipt = (await anvil.rpc.call("eth_getTransactionReceipt", [hash])) as Record<string, unknown> | null;
  if (receipt?.status !== "0x1") throw new Error(`a set-up transaction failed: ${JSON.stringify(receipt)}`);
  return receipt;
}

/** Deploys a committed artifact from anvil's first account. */
export async function deploy(
  anvil: BareAnvil,
  name: string,
  args: readonly unknown[],
): Promise<{ address: Address; abi: Interface }> {
  const file = new URL(`../../contracts/artifacts/${name}.json`, import.meta.url);
  const artifact = JSON.parse(readFileSync(file, "utf8")) as { abi: InterfaceAbi; bytecode: string };
  const { data } = await new ContractFactory(artifact.abi, artifact.bytecode).getDeployTransaction(...args);
  const receipt = await sendAndMine(anvil, { data: data as Hex });
  return { address: toAddress(String(receipt.contractAddress)), abi: new Interface(artifact.abi) };
}
