import { z } from "zod";
import { type Ppm, toPpm } from "../../domain/money/fraction.ts";
import { count, flag, map, maybe, maybeMap, or } from "../fields.ts";
import { instant, money, seconds, share, start } from "../units.ts";
import { commonFields, symbol } from "./common-schema.ts";

const half: { readonly max: Ppm } = { max: toPpm(500_000) };

/** Sells a total in slices. Slices make the schedule and their window, so those two keys of other kinds are not here. */
export const twapSchema = z
  .strictObject({
    kind: z.literal("twap"),
    ...commonFields,
    sell: money("the total that is sold", "12 WETH"),
    buy: symbol("the token to buy"),
    start: start("the instant of the first slice, or now; the first slot after loading by default").optional(),
    end: instant("nothing new is begun from here on").optional(),
    duration: seconds("how long it takes, instead of end", "10d").optional(),
    every: seconds("from one slice to the next", "2h").optional(),
    slices: count("how many slices there are, instead of every", { min: 1, max: 10_000 }).optional(),
    randomize: maybeMap("makes slices harder to foresee; derived from strategy and slice, never rolled anew", {
      size: share("how far a slice may be from an even one", ["%"], half).optional(),
      time: seconds("a slice starts up to so much after its instant", "15m").optional(),
    }),
    slice: map("bounds of one slice", {
      min: money("the least that one swap sells; a plan with smaller slices is refused", "0.05 WETH"),
      max: money("the most that one swap sells; twice an even slice by default", "0.5 WETH").optional(),
      window: seconds("how long a slice is tried; nearly until the next one by default", "1h").optional(),
      unfilled: maybe(
        z.enum(["roll", "extend", "drop"]),
        "a slice that was not sold joins the next (default), follows after the end, or is lost",
      ),
    }),
    limit: maybeMap("prices at which a slice waits, and at which the strategy stops itself", {
      min_price: money("the least for one sold token, fees included", "3800 USDC").optional(),
      max_price: money("the most for one bought token, fees included", "4200 USDC").optional(),
      abort_below: money("stops when one sold token is worth less", "3500 USDC").optional(),
      abort_above: money("stops when one bought token is worth more", "4500 USDC").optional(),
    }),
    exit: or(flag("it leaves a position, so it trades in the mode exits-only too; false by default"), false),
  })
  .omit({ schedule: true, retry_for: true });

export type TwapFields = Partial<z.output<typeof twapSchema>>;
