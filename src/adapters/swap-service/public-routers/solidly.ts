import { Interface, type Result } from "ethers";
import type { Hex } from "../../../domain/money/address.ts";
import { readPinnedCall } from "../pinned-call.ts";
import {
  addressOf,
  CUSTODY,
  checked,
  type Leg,
  NotPinned,
  type ReadCalls,
  type RouterRules,
  type Step,
} from "./steps.ts";

const WAY = "(address from, address to, bool stable, address factory)[] routes, address to, uint256 deadline";

/**
 * What is taken of Solidly's router: the forms that compare the minimum with what the recipient has more at the end. Those
 * of the shorter names compare it with what pools say beforehand.
 */
const FORMS = new Interface([
  `function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
  `function swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, ${WAY}) payable`,
  `function swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, ${WAY})`,
]);

/** It has one leg, which nothing comes after: what it keeps on the way is its own business. */
const RULES: RouterRules = { custody: CUSTODY, coinsInOneLeg: true };

/** All coins that are sent along are sold: what a refund would bring is nothing. */
const ALL_SOLD: Step = { kind: "refund" };

/**
 * Reads calldata of Solidly's router as the steps that another router would be told of one by one; undefined where it is
 * none of its forms.
 * @param value wei that are sent along: what a sale of native coins sells is not said in it
 * @throws NotPinned when it is one of them, and says something that must not be said
 */
export function readSolidlyCall(data: Hex, value: bigint): ReadCalls | undefined {
  const name = FORMS.getFunction(data.slice(0, 10))?.name;
  if (name === undefined) return undefined;
  const call = readPinnedCall(FORMS, name, data);
  if (!call.ok) throw new NotPinned(call.problem);
  const { routes, to, deadline, amountIn = value, amountOutMin: minimum } = call.args.toObject();
  const recipient = addressOf(to);
  const leg = (own: Pick<Leg, "recipient" | "minimum">): Step => {
    return { kind: "leg", leg: checked({ path: pathOf(routes), amountIn, deadline, ...own }, 1) };
  };
  const steps: Readonly<Record<string, () => readonly Step[]>> = {
    swapExactTokensForTokensSupportingFeeOnTransferTokens: () => [leg({ recipient, minimum })],
    swapExactETHForTokensSupportingFeeOnTransferTokens: () => [leg({ recipient, minimum }), ALL_SOLD],
    swapExactTokensForETHSupportingFeeOnTransferTokens: () => [
      leg({ recipient: RULES.custody, minimum: 0n }),
      { kind: "unwrap", minimum, recipient },
    ],
  };
  return { form: RULES, deadline: undefined, steps: steps[name]?.() ?? [] };
}

/** The tokens of a way. Where one hop does not begin with what the last one brings, that stays in a pool for anybody. */
function pathOf(routes: Result) {
  const hops = routes.toArray().map(([from, to]) => ({ from: addressOf(from), to: addressOf(to) }));
  const [first] = hops;
  if (first === undefined) throw new NotPinned("the way has no pools");
  for (const [index, { from }] of hops.entries()) {
    const brought = hops[index - 1]?.to;
    if (brought !== undefined && from !== brought)
      throw new NotPinned(`hop ${index + 1} sells ${from}, and the one before it brings ${brought}`);
  }
  return [first.from, ...hops.map(({ to }) => to)];
}
