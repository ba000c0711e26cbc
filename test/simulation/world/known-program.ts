import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { TRANSFER_TOPIC } from "../../../src/domain/run/measure-fill.ts";
import { eventTopic, quantity, topicOf, words } from "./words.ts";

const APPROVAL = eventTopic("Approval(address,address,uint256)");
/** Where nodes that trace transfers report moves of the native coin. */
const NATIVE_TRACE = `0x${"ee".repeat(20)}` as Address;
/** The stranger of contracts/src/trial/TrialSubject.sol. */
const STRANGER = "0x73776170642070726f626520737472616e676572" as Address;

/**
 * What the program does that endpoints are proved with, which is the only code that anybody lends here: the ledger of this
 * world runs none.
 */
export function knownProgram(calls: readonly { from: string; to: string }[]): readonly unknown[] {
  const [owner, subject] = [calls[0]?.from, calls[0]?.to].map((one) => String(one).toLowerCase()) as [Address, Address];
  const log = (address: Address, topic: Hex, [from, to, amount]: readonly [Address, Address, bigint]) => {
    return { address, topics: [topic, topicOf(from), topicOf(to)], data: words(amount), logIndex: "0x0" };
  };
  const first = [
    log(NATIVE_TRACE, TRANSFER_TOPIC, [owner, subject, 2n]),
    log(subject, TRANSFER_TOPIC, [owner, subject, 7n]),
    log(subject, APPROVAL, [owner, subject, 5n]),
    log(NATIVE_TRACE, TRANSFER_TOPIC, [subject, STRANGER, 1n]),
  ];
  const second = [log(subject, TRANSFER_TOPIC, [owner, subject, 2n])];
  return [first, second].map((logs) => ({ status: "0x1", gasUsed: quantity(50_000), returnData: "0x", logs }));
}
