import { z } from "zod";
import { maybe, or } from "../fields.ts";
import { gasPrice } from "../units.ts";

/** How much is paid for being in a block soon. */
export const fees = z
  .strictObject({
    urgency: or(
      z.enum(["slow", "normal", "fast"], { error: "needs slow, normal or fast" }),
      "normal",
      "what is paid on top of the base fee: half of what nodes suggest, that, or twice as much",
    ),
    maxPriorityFee: maybe(
      gasPrice("the most on top of the base fee, whatever nodes suggest; else what the network book says"),
      "the most on top of the base fee, whatever nodes suggest; else what the network book says",
    ),
    maxFee: maybe(
      gasPrice("the most per gas altogether, where it is less than the policy's max_gas_price"),
      "the most per gas altogether, where it is less than the policy's max_gas_price",
    ),
  })
  .default({ urgency: "normal" })
  .meta({ description: "what is paid for gas, below the policy's max_gas_price" });
