import { getAddress } from "ethers";
import type { PublishedProposal } from "../../ports/treasury.ts";
import { type BatchFile, checksumOf } from "./checksum.ts";

/** The release whose files these are like. */
const BUILDER_VERSION = "1.18.2";

/** A proposal as such a file. It holds calls alone: nonce and hash are told in its description, for people to compare. */
export function batchFileOf(proposal: PublishedProposal, createdAt: number): BatchFile {
  const { safe, chainId, calls, purpose, nonce, hash, deadlineSeconds } = proposal;
  const until = new Date(deadlineSeconds * 1_000).toISOString();
  const file: BatchFile = {
    version: "1.0",
    chainId: String(chainId),
    createdAt,
    meta: {
      name: `swapd ${proposal.swapId}`,
      description: `${purpose}. Execute it once, before ${until}, with the nonce ${nonce}: the hash to compare is then ${hash}`,
      txBuilderVersion: BUILDER_VERSION,
      createdFromSafeAddress: getAddress(safe),
      createdFromOwnerAddress: "",
    },
    transactions: calls.map(({ to, value, data }) => ({
      ...{ to: getAddress(to), value: value.toString(), data },
      ...{ contractMethod: null, contractInputsValues: null },
    })),
  };
  return { ...file, meta: { ...file.meta, checksum: checksumOf(file) } };
}
