import { z } from "zod";
import { toPpm } from "../../domain/money/fraction.ts";
import { count } from "../fields.ts";
import { share } from "../units.ts";

/** When what is private and comes into no block is tried once more for everybody to see. */
export const fallback = z
  .strictObject({
    publicAfterBlocks: count("a private transaction in no block for so many: its nonce is taken by an empty one", {
      min: 1,
      max: 10_000,
    }),
    slippage: share("the most slippage of the order that everybody sees then", ["bps", "%"], {
      max: toPpm(5_000),
    }),
  })
  .transform(({ publicAfterBlocks, slippage }) => ({ afterBlocks: publicAfterBlocks, slippage }))
  .optional()
  .meta({
    description:
      "tries a swap that was sent privately and came into no block once more, with an order of its own that everybody may see. Without the key nothing does",
  });
