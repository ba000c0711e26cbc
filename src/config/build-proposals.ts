import { buildKeySource, findAddress, type Surroundings } from "./build-key.ts";
import { checkServiceUrl } from "./build-service.ts";
import { type Part, type Path, refuse, sound } from "./complaint.ts";
import type { ProposalsConfiguration, TransactionServiceConfiguration } from "./configuration.ts";
import { resolveFrom } from "./files.ts";
import { absoluteReference } from "./references.ts";
import type { ProposalFields } from "./schemas/wallet-schema.ts";
import type { Source } from "./source.ts";

/** Where the owners of a Safe find what they are asked for. */
export function* buildProposals(
  source: Source,
  path: Path,
  { fields, around }: { readonly fields: ProposalFields; readonly around: Surroundings },
): Part<ProposalsConfiguration> {
  const { folder, service } = fields;
  if (folder === undefined && service === undefined)
    return yield* refuse`${path}: names no place where the owners find a proposal -> name a folder, a service or both: { folder: proposals }`;
  const built = service && (yield* buildTransactionService(source, [...path, "service"], { fields: service, around }));
  if (service !== undefined && built === undefined) return undefined;
  return { folder: folder === undefined ? undefined : resolveFrom(source.file, folder), service: built };
}

function* buildTransactionService(
  source: Source,
  path: Path,
  terms: { readonly fields: NonNullable<ProposalFields["service"]>; readonly around: Surroundings },
): Part<TransactionServiceConfiguration> {
  const { url, apiKey, delegate } = terms.fields;
  const place = [...path, "delegate"];
  const isUrl = yield* sound(isServiceUrl([...path, "url"], url, apiKey !== undefined));
  const key = yield* buildKeySource(source, place, delegate, terms.around);
  const stated = "keystore" in delegate ? delegate.address : undefined;
  const address = key && (yield* findAddress(place, key, stated, terms.around));
  if (key === undefined || address === undefined || isUrl === undefined) return undefined;
  return { url, apiKey: apiKey && absoluteReference(source, apiKey), delegate: { key, address } };
}

function* isServiceUrl(path: Path, url: string, hasKey: boolean): Part<true> {
  if (!/^https?:\/\/./.test(url))
    return yield* refuse`${path}: is no http or https URL -> name the service of this network: "https://api.safe.global/tx-service/base/api"`;
  yield* checkServiceUrl(path, url, hasKey);
  return true;
}
