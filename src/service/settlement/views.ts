import { Interface } from "ethers";
import { malformedAnswer } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import { isFailedCall } from "../../chain/node-errors.ts";
import { type Address, type Hex, isHex } from "../../domain/money/address.ts";

const CONTRACTS = new Interface([
  "function executor() view returns (address)",
  "function wrappedNative() view returns (address)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function protocolCount() view returns (uint256)",
  "function protocols(uint256 index) view returns (uint8 kind, address factory, uint24 feePips)",
  "function initCodeHashes(uint256 index) view returns (bytes32)",
  "function factory() view returns (address)",
  "function factoryV2() view returns (address)",
  "function WETH9() view returns (address)",
  "function weth() view returns (address)",
  "function defaultFactory() view returns (address)",
  "function deployer() view returns (address)",
  "function poolDeployer() view returns (address)",
]);

/** The contracts on the chain are not the configured ones: they would take signatures and money meant for these. */
export class WrongContractsError extends Error {
  /** Unix seconds of the newest block that the node had then: it may be catching up */
  readonly newestBlock: number | undefined;

  constructor(message: string, newestBlock?: number) {
    super(message);
    this.name = "WrongContractsError";
    this.newestBlock = newestBlock;
  }
}

interface View {
  readonly view: string;
  readonly values?: readonly unknown[];
  /** contracts of earlier releases have none, which is an empty answer */
  readonly isOptional?: boolean;
}

/** Asks a contract for several views at once; each answer is checked when it is asked for. */
export async function readViews(
  rpc: JsonRpc,
  { name, contract, what }: { name: string; contract: Address; what: string },
  views: readonly View[],
): Promise<(index: number) => string> {
  const answers = await rpc.batch(
    views.map(({ view, values = [] }) => {
      const data = CONTRACTS.encodeFunctionData(view, values);
      return { method: "eth_call", params: [{ to: contract, data }, "latest"] };
    }),
  );
  return (index) => {
    const answer = answers[index];
    const view = views[index]?.view ?? "";
    if (answer instanceof RpcError && !isFailedCall(answer)) throw answer;
    if (answer instanceof RpcError || answer === "0x") {
      if (views[index]?.isOptional === true) return "";
      const missing = `the contract at ${contract} on ${name} has no ${view}()`;
      throw new WrongContractsError(`${missing}: is this ${what}?`);
    }
    if (!isHex(answer)) throw malformedAnswer(rpc.host, `the node's answer to ${view}() is no bytes`);
    return decoded(view, answer, rpc.host);
  };
}

function decoded(view: string, answer: Hex, host: string): string {
  try {
    return CONTRACTS.decodeFunctionResult(view, answer).toArray().map(String).join(" ").toLowerCase();
  } catch {
    throw malformedAnswer(host, `the node's answer to ${view}() is malformed`);
  }
}
