import type { Treasury } from "../../ports/treasury.ts";

/**
 * Files beside a service. Whoever takes a file chooses a nonce, so that none is bound; a proposal is delivered when both
 * have it.
 */
export function createBothPlaces(folder: Treasury, service: Treasury): Treasury {
  return {
    ...service,
    bindsNonce: false,
    publish: async (proposal) => {
      const filed = await folder.publish(proposal);
      const posted = await service.publish(proposal);
      const missing = [filed, posted].flatMap((outcome) => (outcome.kind === "published" ? [] : [outcome.detail]));
      return missing.length === 0 ? { kind: "published" } : { kind: "undelivered", detail: missing.join("; ") };
    },
  };
}
