import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { SimBlock, SimChain, SimReceipt } from "./chain.ts";
import { GWEI } from "./chain.ts";
import { answerCall } from "./contracts.ts";
import { knownProgram } from "./known-program.ts";
import { Ledger, Revert, type SimLog } from "./ledger.ts";
import { CHAIN_ID, ETH, ROUTER } from "./places.ts";
import { quantity, quickHash } from "./words.ts";

/** What one endpoint shows of the chain at this moment. */
export interface NodeView {
  /** so many blocks behind */
  readonly lag: number;
  readonly hidesReceipts: boolean;
  readonly hidesLogs: boolean;
  /** transactions are taken and kept from the pool */
  readonly swallows: boolean;
  /** it keeps the states of so many of the newest blocks */
  readonly keeps: number;
  /** what it says of an older one */
  readonly saysOfOld: string;
}

/** An error that a node answers with. */
export class NodeError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Params = readonly unknown[];

/** Answers a method of JSON-RPC. @throws NodeError */
export function answerMethod(chain: SimChain, view: NodeView, method: string, params: Params): unknown {
  const tip = chain.blockAt(Math.max(chain.finalized.number, chain.tip.number - view.lag));
  const at = (tag: unknown): SimBlock | undefined => blockOf(chain, tip, tag);
  const kept = (tag: unknown): SimBlock => {
    const block = at(tag);
    if (block === undefined) throw new NodeError(-32_000, "header not found");
    if (tip.number - block.number >= view.keeps) throw new NodeError(-32_000, view.saysOfOld);
    return block;
  };
  const state = (tag: unknown): Ledger => new Ledger(kept(tag).state);
  switch (method) {
    case "eth_chainId":
      return quantity(CHAIN_ID);
    case "net_version":
      return String(CHAIN_ID);
    case "web3_clientVersion":
      return "simulated";
    case "eth_blockNumber":
      return quantity(tip.number);
    case "eth_getBlockByNumber": {
      const block = at(params[0]);
      return block === undefined ? null : blockJson(chain, block, params[1] === true);
    }
    case "eth_getTransactionCount":
      return quantity(state(params[1]).count(String(params[0])));
    case "eth_getBalance":
      return quantity(state(params[1]).balance(ETH.address, String(params[0])));
    case "eth_getCode":
      return String(params[0]).toLowerCase() === ROUTER ? "0x6001" : "0x";
    case "eth_getTransactionReceipt": {
      const receipt = chain.receipt(String(params[0]));
      if (receipt === undefined || view.hidesReceipts || receipt.blockNumber > tip.number) return null;
      return receiptJson(receipt);
    }
    case "eth_getTransactionByHash": {
      const receipt = chain.receipt(String(params[0]));
      return receipt === undefined || view.hidesReceipts ? null : transactionJson(receipt);
    }
    case "eth_maxPriorityFeePerGas":
      return quantity(GWEI / 10n);
    case "eth_gasPrice":
      return quantity(tip.baseFee + GWEI / 10n);
    case "eth_sendRawTransaction":
      return send(chain, view, String(params[0]));
    case "eth_call":
      return answerCall(chain, kept(params[1] ?? "latest"), params[0] as Called);
    case "eth_getLogs":
      return view.hidesLogs ? [] : logsJson(chain, tip, params[0] as LogFilter);
    case "eth_simulateV1":
      return simulate(chain, tip, params[0] as SimulationRequest);
    default:
      throw new NodeError(-32_601, `the method ${method} does not exist`);
  }
}

function blockOf(chain: SimChain, tip: SimBlock, tag: unknown): SimBlock | undefined {
  if (tag === "latest" || tag === "pending" || tag === undefined) return tip;
  if (tag === "finalized" || tag === "safe") return chain.finalized;
  if (tag === "earliest") return chain.blocks[0];
  const number = Number(tag);
  return number <= tip.number && chain.has(number) ? chain.blockAt(number) : undefined;
}

function send(chain: SimChain, view: NodeView, raw: string): Hex {
  const problem = view.swallows ? undefined : chain.send(raw);
  if (problem !== undefined) throw new NodeError(-32_000, problem);
  return chain.hashOf(raw);
}

function blockJson(chain: SimChain, block: SimBlock, isFull: boolean): unknown {
  const { number, hash, seconds, baseFee, receipts } = block;
  const parentHash = chain.has(number - 1) ? chain.blockAt(number - 1).hash : quickHash("none");
  return {
    ...{ number: quantity(number), hash, parentHash, timestamp: quantity(seconds) },
    ...{ baseFeePerGas: quantity(baseFee), gasLimit: quantity(30_000_000), gasUsed: "0x0" },
    transactions: isFull ? receipts.map(transactionJson) : receipts.map((receipt) => receipt.hash),
  };
}

function transactionJson({ hash, from, transaction, blockHash, blockNumber }: SimReceipt): unknown {
  return {
    ...{ hash, from, blockHash, blockNumber: quantity(blockNumber), nonce: quantity(transaction?.nonce ?? 0) },
    ...{ to: transaction?.to ?? ROUTER, input: transaction?.data ?? "0x", value: quantity(transaction?.value ?? 0n) },
    gas: quantity(transaction?.gasLimit ?? 0n),
    maxFeePerGas: quantity(transaction?.maxFeePerGas ?? 0n),
    maxPriorityFeePerGas: quantity(transaction?.maxPriorityFeePerGas ?? 0n),
  };
}

function receiptJson(receipt: SimReceipt): unknown {
  const { hash, from, blockHash, blockNumber, succeeded, gasPrice, logs } = receipt;
  return {
    ...{ transactionHash: hash, from, to: receipt.transaction?.to ?? ROUTER, blockHash },
    ...{ blockNumber: quantity(blockNumber), status: succeeded ? "0x1" : "0x0", transactionIndex: "0x0" },
    ...{ gasUsed: quantity(100_000), effectiveGasPrice: quantity(gasPrice) },
    logs: logs.map((log, index) => logJson(receipt, log, index)),
  };
}

function logJson({ hash, blockHash, blockNumber }: SimReceipt, log: SimLog, index: number): unknown {
  const place = { transactionHash: hash, blockHash, blockNumber: quantity(blockNumber), transactionIndex: "0x0" };
  return { ...place, address: log.address, topics: log.topics, data: log.data, logIndex: quantity(index) };
}

interface Called {
  readonly to: string;
  readonly data?: string;
  readonly input?: string;
  readonly from?: string;
}

interface LogFilter {
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | null | readonly string[])[];
  readonly fromBlock?: string;
  readonly toBlock?: string;
}

function logsJson(chain: SimChain, tip: SimBlock, filter: LogFilter): unknown {
  const from = blockOf(chain, tip, filter.fromBlock)?.number ?? Number(filter.fromBlock);
  const to = Math.min(blockOf(chain, tip, filter.toBlock)?.number ?? tip.number, tip.number);
  const isOneOf = (wanted: string | readonly string[] | null | undefined, seen: string | undefined): boolean =>
    wanted === undefined || wanted === null || (seen !== undefined && [wanted].flat().includes(seen));
  const found: unknown[] = [];
  for (const { number, receipts } of chain.blocks) {
    if (number < from || number > to) continue;
    for (const receipt of receipts) {
      for (const [index, log] of receipt.logs.entries()) {
        const fits = (filter.topics ?? []).every((topic, place) => isOneOf(topic, log.topics[place]));
        if (fits && isOneOf(filter.address, log.address)) found.push(logJson(receipt, log, index));
      }
    }
  }
  return found;
}

interface SimulationRequest {
  readonly blockStateCalls: readonly {
    readonly blockOverrides?: { readonly time?: string };
    readonly stateOverrides?: unknown;
    readonly calls: readonly { from: string; to: string; input?: string; data?: string; value?: string }[];
  }[];
}

function simulate(chain: SimChain, tip: SimBlock, request: SimulationRequest): unknown {
  const ledger = new Ledger(tip.state);
  return request.blockStateCalls.map(({ blockOverrides, stateOverrides, calls }) => {
    if (stateOverrides !== undefined) return { number: quantity(tip.number + 1), calls: knownProgram(calls) };
    const seconds = Number(blockOverrides?.time ?? quantity(tip.seconds + 1));
    const moment = { seconds, prices: chain.prices(tip.number) };
    return {
      number: quantity(tip.number + 1),
      calls: calls.map((call) => {
        const data = call.input ?? call.data ?? "0x";
        const [from, to] = [call.from.toLowerCase() as Address, call.to.toLowerCase() as Address];
        try {
          const logs = ledger.call({ from, to, data, value: BigInt(call.value ?? "0x0") }, moment);
          const shown = logs.map((log, index) => ({ ...log, logIndex: quantity(index) }));
          return { status: "0x1", gasUsed: quantity(100_000), returnData: "0x", logs: shown };
        } catch (error) {
          if (!(error instanceof Revert)) throw error;
          const failure = { code: 3, message: `execution reverted: ${error.message}` };
          return { status: "0x0", gasUsed: quantity(50_000), returnData: "0x", logs: [], error: failure };
        }
      }),
    };
  });
}
