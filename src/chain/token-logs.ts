import { id } from "ethers";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../domain/money/address.ts";
import { MAX_UINT256 } from "../domain/money/amount.ts";
import type { ChainLog, SimulationOutcome } from "../ports/chain.ts";

type Simulated = Extract<SimulationOutcome, { kind: "ok" }>;
type Transfer = Simulated["transfers"][number];
type Approval = Simulated["approvals"][number];

const TRANSFER = id("Transfer(address,address,uint256)");
const APPROVAL = id("Approval(address,address,uint256)");
const APPROVAL_FOR_ALL = id("ApprovalForAll(address,address,bool)");

/** Where nodes that trace transfers report moves of the native token. */
const NATIVE_TRACE = toAddress("0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");

/**
 * Reads token moves out of logs, native ones as the zero address. The arguments count in their order whether they are
 * indexed or not, because the guard must also see what unusual tokens do. A collectible's id stands as its amount.
 */
export function transfersOf(logs: readonly ChainLog[]): readonly Transfer[] {
  return logs.flatMap((log) => {
    const words = wordsOf(log, TRANSFER);
    if (words === undefined) return [];
    const token = log.address === NATIVE_TRACE ? NATIVE_TOKEN : log.address;
    return [{ token, from: addressOf(words[0]), to: addressOf(words[1]), amount: BigInt(words[2]) }];
  });
}

/** Reads allowances set in logs. One for all collectibles of a contract stands as the largest amount. */
export function approvalsOf(logs: readonly ChainLog[]): readonly Approval[] {
  return logs.flatMap((log) => {
    const single = wordsOf(log, APPROVAL);
    const words = single ?? wordsOf(log, APPROVAL_FOR_ALL);
    if (words === undefined) return [];
    const value = BigInt(words[2]);
    const amount = single === undefined && value !== 0n ? MAX_UINT256 : value;
    return [{ token: log.address, owner: addressOf(words[0]), spender: addressOf(words[1]), amount }];
  });
}

function wordsOf(log: ChainLog, event: string): readonly [Hex, Hex, Hex] | undefined {
  const [topic, ...indexed] = log.topics;
  if (topic !== event) return undefined;
  const words = [...indexed];
  for (let position = 2; position + 64 <= log.data.length; position += 64) {
    words.push(`0x${log.data.slice(position, position + 64)}`);
  }
  const [first, second, third] = words;
  if (first === undefined || second === undefined || third === undefined) return undefined;
  return [first, second, third];
}

function addressOf(word: Hex): Address {
  return toAddress(`0x${word.slice(26)}`);
}
