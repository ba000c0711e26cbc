import type { PriceFault, SecondOutput } from "../../domain/guard/swap-facts.ts";
import { toPpm } from "../../domain/money/fraction.ts";
import type { ReferencePrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { ClearanceReading } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { PriceMissing } from "../../ports/price-source.ts";
import type { EngineContext } from "../engine-context.ts";

type Reference = Pick<ClearanceReading, "sellPrice" | "buyPrice" | "nativePrice" | "priceFaults" | "secondOutput">;

/** Everything that a quote is checked against and that does not come from the service that gave it. */
export async function readReference(context: EngineContext, swap: Swap, amount: bigint): Promise<Reference> {
  const faults: PriceFault[] = [];
  const read = async (token: Token): Promise<ReferencePrice | undefined> => {
    const price = await context.deps.prices.price(token);
    if (!("missing" in price)) return price;
    const code = FAULT_CODES[price.missing] ?? "REFERENCE_MISSING";
    faults.push({ token: token.address, code, detail: `${price.missing}: ${price.detail}` });
    return undefined;
  };
  const sellPrice = await read(swap.sell);
  const buyPrice = await read(swap.buy);
  const nativePrice = await read(context.settings.native);
  const secondOutput = await readSecondOutput(context, swap, amount);
  return { sellPrice, buyPrice, nativePrice, priceFaults: faults, secondOutput };
}

/** What is not listed is missing. */
const FAULT_CODES: Partial<Readonly<Record<PriceMissing["missing"], PriceFault["code"]>>> = {
  divergent: "REFERENCE_DIVERGES",
  "sequencer down": "SEQUENCER_DOWN",
};

/** The second service is asked for exactly what the first one quoted. */
async function readSecondOutput(context: EngineContext, swap: Swap, amount: bigint): Promise<SecondOutput | undefined> {
  const { secondService } = context.deps;
  if (secondService === undefined) return undefined;
  const { sell, buy, wallet, recipient } = swap;
  const slippage = toPpm(BigInt(swap.quote?.slippagePpm ?? context.settings.policy.maxSlippage));
  const answer = await secondService.output({ sell, buy, amount, slippage, owner: wallet, recipient });
  if ("missing" in answer) return { kind: "missing", detail: `${answer.missing}: ${answer.detail}` };
  return { kind: "quoted", ...answer };
}
