import { z } from "zod";
import { shape } from "./shape.ts";
import { budget, OPERATING, strategyStatus } from "./status-shapes.ts";
import { decimal, dollars, instant, money, percent, token } from "./values.ts";

const fileProblem = shape("FileProblem", "A mistake in the strategy's file.", {
  line: z.int(),
  column: z.int(),
  path: z.string(),
  message: z.string(),
  suggestion: z.string().nullable(),
});

const level = shape("PriceLevel", "A price of the watched token at which something happens.", {
  leg: z.string(),
  what: z.enum(["trigger", "stop", "trail", "rearm", "limit", "floor"]),
  side: z.enum(["above", "below"]).nullable(),
  price: decimal.meta({ description: "in the quote token" }),
});

export const strategy = shape("Strategy", "A strategy with its settings.", {
  id: z.string(),
  kind: z.string(),
  wallet: z.string(),
  file: z.string().nullable().meta({ description: "name of its file" }),
  sells: z.array(token),
  buys: z.array(token),
  watch: token.nullable().meta({ description: "of a price that it waits for" }),
  quote: token.nullable().meta({ description: "what that price, or its mix, is given in" }),
  levels: z.array(level),
  spec: z.unknown().meta({ description: "its settings as they are in force; amounts and shares as decimal text" }),
  yaml: z.string().nullable().meta({ description: "text of its file as it is now; null: it cannot be read" }),
  problems: z.array(fileProblem).meta({ description: "what is wrong with that text; the settings in force stay" }),
  isEdited: z.boolean().meta({ description: "the file is another one than what is in force" }),
  memory: z.unknown().meta({ description: "what it remembers, as stored" }),
  mode: z.enum(OPERATING),
  nextSlots: z.array(instant).meta({ description: "the next ones, at most five" }),
  budgets: z.array(budget),
  status: strategyStatus,
});

export const strategyList = shape("StrategyList", "All strategies.", { strategies: z.array(strategyStatus) });

const holding = shape("Holding", "What the wallets have of a token.", {
  wallet: z.string(),
  money,
  priceUsd: dollars.nullable(),
  valueUsd: dollars.nullable(),
  block: z.int(),
});

const weight = shape("Weight", "A token of a mix: what it is, and should be, of the whole.", {
  token,
  weight: percent.nullable().meta({ description: "null where a price or a balance is missing" }),
  target: percent,
  softLow: percent.nullable(),
  softHigh: percent.nullable(),
  hardLow: percent.nullable(),
  hardHigh: percent.nullable(),
});

export const portfolio = shape(
  "Portfolio",
  "What the wallets have, by the last comparison with the chain and own fills since; of the native coin, by the chain now.",
  {
    holdings: z.array(holding),
    totalUsd: dollars.nullable().meta({ description: "of what has a price; null where nothing has one" }),
    missingPrices: z.array(z.string()),
    missingBalances: z.array(z.string()).meta({ description: "in no sum: what some wallet has of it is not known" }),
    pricedAt: instant.nullable(),
    mixes: z.array(shape("Mix", "The weights of a rebalance.", { strategy: z.string(), weights: z.array(weight) })),
  },
);

/** Columns of a chart: as many of each as there are instants. */
export const prices = shape("Prices", "Reference prices of a token over time, as they were recorded.", {
  token,
  atSeconds: z.array(z.int()).meta({ description: "Unix seconds, ascending" }),
  usd: z.array(dollars),
});

export const portfolioHistory = shape(
  "PortfolioHistory",
  "Value of the wallets over time, calculated back from what they have now by their own swaps. Deposits, withdrawals and gas are not known at their time.",
  {
    atSeconds: z.array(z.int()),
    totalUsd: z.array(dollars.nullable()),
    without: z.array(z.string()).meta({
      description: "in no sum: the native coin, where what the wallets have of it is not known now, or its price then",
    }),
    tokens: z.array(
      shape("TokenHistory", "One token of it.", {
        token,
        amount: z.array(decimal),
        usd: z.array(dollars.nullable()).meta({ description: "null where no price was recorded" }),
      }),
    ),
  },
);
