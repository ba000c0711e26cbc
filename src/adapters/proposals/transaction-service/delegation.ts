import { getAddress } from "ethers";
import { z } from "zod";
import { type Address, parseAddress } from "../../../domain/money/address.ts";
import type { TransactionServiceCalls } from "./service-calls.ts";

/** By whom a delegate is listed for a Safe, as the service says. */
export type Delegation =
  | { readonly kind: "listed"; readonly delegators: readonly Address[] }
  | { readonly kind: "unknown"; readonly detail: string };

const page = z.object({
  results: z.array(z.object({ safe: z.string().nullish(), delegate: z.string(), delegator: z.string() })),
});

/** Looks a delegate up. An owner lists it for one Safe, or for all of his. */
export async function delegationOf(
  calls: TransactionServiceCalls,
  { safe, delegate }: { readonly safe: Address; readonly delegate: Address },
): Promise<Delegation> {
  const reply = await calls.get("/v2/delegates/", { delegate: getAddress(delegate) });
  if (reply.kind === "none") return { kind: "unknown", detail: reply.detail };
  const read = page.safeParse(reply.body).data;
  if (reply.status !== 200 || read === undefined)
    return { kind: "unknown", detail: `${calls.host} answered ${reply.status} (${reply.words})` };
  const own = read.results.filter((row) => parseAddress(row.delegate) === delegate);
  const ofSafe = own.filter((row) => row.safe === null || row.safe === undefined || parseAddress(row.safe) === safe);
  return { kind: "listed", delegators: ofSafe.flatMap(({ delegator }) => parseAddress(delegator) ?? []) };
}
