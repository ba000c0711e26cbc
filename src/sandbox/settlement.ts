import { getCreateAddress, ZeroHash } from "ethers";
import { type Address, toAddress } from "../domain/money/address.ts";
import type { FactoryFacts } from "../networks/network.ts";
import { DEPLOYER } from "./accounts.ts";
import { deployData, loadContract } from "./artifacts.ts";
import type { Rpc } from "./rpc.ts";
import { type Nonces, perform, type Sending } from "./transactions.ts";

/** Collects the deployments of the deployer's account and reports where each will lie. */
export class Deployments {
  readonly sendings: Sending[] = [];
  readonly #from: Address;
  #nonce: number;

  constructor(from: Address, nonce: number) {
    this.#from = from;
    this.#nonce = nonce;
  }

  add(label: string, data: Sending["data"]): Address {
    const address = toAddress(getCreateAddress({ from: this.#from, nonce: this.#nonce }));
    this.sendings.push({ label: `deploying ${label}`, from: this.#from, data });
    this.#nonce += 1;
    return address;
  }
}

/** The project's contracts on a chain. */
interface SettlementContracts {
  readonly executor: Address;
  readonly settlement: Address;
}

/** Adds executor and settlement to the deployments. @param protocols with the executor's own numbers of kinds */
export function addSettlement(
  deployments: Deployments,
  wrappedNative: Address,
  protocols: readonly FactoryFacts[],
): SettlementContracts {
  const list = protocols.map(({ kind, factory, feePips, initCodeHash = ZeroHash }) => {
    return [kind, factory, feePips, initCodeHash];
  });
  const executor = deployments.add("SwapdExecutor", deployData(loadContract("SwapdExecutor"), [wrappedNative, list]));
  const settlement = deployments.add(
    "SwapdSettlement",
    deployData(loadContract("SwapdSettlement"), [wrappedNative, executor]),
  );
  return { executor, settlement };
}

/** Deploys executor and settlement onto a chain that has tokens and pools already. */
export async function deploySettlement(
  rpc: Rpc,
  nonces: Nonces,
  where: { wrappedNative: Address; protocols: readonly FactoryFacts[] },
): Promise<SettlementContracts> {
  const deployments = new Deployments(DEPLOYER.address, nonces.get(DEPLOYER.address) ?? 0);
  const contracts = addSettlement(deployments, where.wrappedNative, where.protocols);
  await perform(rpc, nonces, deployments.sendings);
  return contracts;
}
