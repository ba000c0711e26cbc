import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { DEPLOYER, type MinedTransaction } from "./chain.ts";
import { writeStory } from "./journal.ts";
import { type Copy, STRANGER } from "./world.ts";

/** A contract of nobody's that does as it is told: any calls in a row, with coins of its own. */
const ROUTER = toAddress("0x00000000000000000000000000000000f00df00d");

/** Reads target, value, length and data of each call, one after the other, and reverts with the first that does. */
export const ROUTER_CODE = `0x${[
  "60005b8036111560385780604001358082606001600037",
  "60006000826000856020013586355af115603257016060016002565b60006000fd5b00",
].join("")}`;

type Call = readonly [to: string, value: bigint, data: string];

const FINAL = ["planned", "quoted", "cleared", "signed", "submitted", "mined", "confirmed", "final"];

/** What such a swap sells and what really happens. */
interface Routed {
  readonly sell: "USDC" | "ETH";
  /** what the swap was to sell */
  readonly amount: bigint;
  /** least that was to come */
  readonly least?: bigint;
  /** what the router takes; default: what the swap was to sell */
  readonly takes?: bigint;
  /** coins that are sent along with a sale of tokens */
  readonly along?: bigint;
  /** what is recorded as sold; default: what was taken */
  readonly recorded?: bigint;
  /** the daemon has not seen it yet */
  readonly isOpen?: boolean;
}

/** What comes of each routed swap, in DAI's smallest unit. */
export const ROUTED_OUT = 50n;

/**
 * Swaps through the router for DAI and writes down what a daemon would. Coins are wrapped, unwrapped and paid on as for a
 * pool of the coin itself.
 */
export async function swapRouted({ chain, journal, trader }: Copy, routed: Routed): Promise<void> {
  const { usdc, dai, weth } = chain.contracts;
  const { sell, amount, takes = amount, along = 0n, recorded = takes, least = 1n, isOpen = false } = routed;
  const wallet = toAddress(chain.wallet.address);
  await chain.rpc.call("anvil_setCode", [ROUTER, ROUTER_CODE]);
  await chain.send(DEPLOYER, dai.address, dai.abi.encodeFunctionData("mint", [ROUTER, ROUTED_OUT]) as Hex);
  if (sell === "USDC") {
    const data = usdc.abi.encodeFunctionData("approve", [ROUTER, takes]) as Hex;
    await trader.perform({ id: "routed.approve1", purpose: "approve", to: usdc.address, data });
  }
  const taken: readonly Call[] =
    sell === "USDC"
      ? [[usdc.address, 0n, usdc.abi.encodeFunctionData("transferFrom", [wallet, ROUTER, takes])]]
      : [
          [weth.address, takes, weth.abi.encodeFunctionData("deposit")],
          [weth.address, 0n, weth.abi.encodeFunctionData("withdraw", [takes])],
          [STRANGER, takes, "0x"],
        ];
  const paid: Call = [dai.address, 0n, dai.abi.encodeFunctionData("transfer", [wallet, ROUTED_OUT])];
  const value = sell === "ETH" ? takes : along;
  const swap = { id: "routed.swap", purpose: "swap", to: ROUTER, data: encodeCalls([...taken, paid]), value } as const;
  const result = await trader.perform(swap);
  if (!result.succeeded) throw new Error("the routed swap reverted");
  writeStory(journal, {
    ...{ id: "routed", strategy: "dca", slotMs: 9_999_999, mode: "self-executed" },
    ...{ wallet, recipient: wallet, sell: chain.tokens[sell], buy: chain.tokens.DAI, amountIn: amount },
    ...{ amountOutMin: least, intentId: "routed.swap", nonce: null, spender: ROUTER },
    ...(isOpen
      ? { runState: "executing", states: FINAL.slice(0, 5), ledger: "reserved", live: true, fill: undefined }
      : { runState: "filled", states: FINAL, ledger: "spent", live: false, fill: fillOf(result, recorded) }),
  });
}

function fillOf(result: MinedTransaction, sold: bigint) {
  return { ...result, sold, bought: ROUTED_OUT };
}

/** What makes the router do calls in a row. */
export function encodeCalls(calls: readonly Call[]): Hex {
  const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, "0");
  const parts = calls.map(([to, value, data]) => {
    return [word(to), word(value), word(BigInt(data.length / 2 - 1)), data.slice(2)].join("");
  });
  return `0x${parts.join("")}`;
}
