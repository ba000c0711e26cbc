import { z } from "zod";
import type { DcaSpec } from "../../domain/strategy/dca.ts";
import { problemAt } from "../source.ts";
import { money } from "../units.ts";
import { buildCommon, checkGaslessSale } from "./build-common.ts";
import { commonFields, symbol } from "./common-schema.ts";
import { fileKind } from "./file-kind.ts";
import { checkPair, findToken, readAmount, readAmountOf, type StrategyFile } from "./scope.ts";

/** Sells a fixed amount at each slot. */
const schema = z.strictObject({
  kind: z.literal("dca"),
  ...commonFields,
  sell: money("how much is sold at each slot"),
  buy: symbol("the token to buy"),
  budget: z.strictObject({ total: money("what it may sell in its whole life", "5200 USDC") }).optional(),
});

type Fields = z.output<typeof schema>;

function build(file: StrategyFile, id: string, fields: Partial<Fields>): DcaSpec | undefined {
  const common = buildCommon(file, id, fields);
  const sell = readAmount(file, ["sell"], fields.sell);
  const buy = fields.buy === undefined ? undefined : findToken(file, ["buy"], fields.buy);
  checkPair(file, ["buy"], { sell: sell?.token, buy });
  checkGaslessSale(file, fields, sell?.token);
  const total = readAmountOf(file, ["budget", "total"], fields.budget?.total, sell?.token);
  if (sell !== undefined && total !== undefined && total < sell.raw) {
    file.problems.push(
      problemAt(file.source, ["budget", "total"], "is less than a single order", "raise it, or lower sell"),
    );
  }
  if (common === undefined || sell === undefined || buy === undefined) return undefined;
  if (fields.budget !== undefined && total === undefined) return undefined;
  return { ...common, kind: "dca", sell, buy, budget: total === undefined ? undefined : { total } };
}

/** `kind: dca`. */
export const dcaFile = fileKind(schema, build);
