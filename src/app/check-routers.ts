import { createJsonRpc, type JsonRpc, RpcError } from "../chain/json-rpc.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import { verifyRouter } from "../service/settlement/verify-router.ts";
import { WrongContractsError } from "../service/settlement/views.ts";
import type { Finding } from "./finding.ts";
import type { Runtime } from "./runtime.ts";

const MAX_RPC_ANSWER_BYTES = 4_000_000;

/**
 * Holds the public routers that the service within the daemon trades with against the network's facts, as it does itself
 * at its start. A further one that is not as it should be is no problem: routes do without it. Nothing where swaps settle
 * elsewhere, or a service elsewhere quotes.
 */
export async function checkRouters(
  configuration: Configuration,
  { secrets, redactor }: Pick<Runtime, "secrets" | "redactor">,
): Promise<readonly Finding[]> {
  const { settlement, router, routerCodeHash, furtherRouters } = configuration.network;
  if (settlement !== undefined || router === undefined || configuration.service.url !== "embedded") return [];
  const timeoutMs = configuration.timing.requestTimeoutMs;
  const rpcs = secrets
    .rpcUrls(configuration)
    .map((url) => createJsonRpc({ url, timeoutMs, maxBytes: MAX_RPC_ANSWER_BYTES }));
  const look = async (address: Address, codeHash: Hex | undefined) =>
    await difference(rpcs, { ...configuration.network, router: { address, codeHash } });
  const problem = await look(router, routerCodeHash);
  const findings: Finding[] = [
    {
      what: "public router",
      found: problem === undefined ? asItShould(router) : redactor.redact(problem.message),
      whatToDo:
        problem?.isWrong === true
          ? "nothing is quoted: correct network.name, network.preset or service.target"
          : undefined,
      ...(problem?.isWrong === false && { isWarning: true }),
    },
  ];
  for (const { address, codeHash } of furtherRouters) {
    const why = await look(address, codeHash);
    const without = why?.isWrong === true ? "; routes do without it" : "";
    const found = why === undefined ? asItShould(address) : redactor.redact(why.message) + without;
    findings.push({ what: "further public router", found, whatToDo: undefined, ...(why && { isWarning: true }) });
  }
  return findings;
}

function asItShould(router: Address): string {
  return `${router} is as the network's facts say`;
}

/** Why a router cannot be used, by the first endpoint that answers. */
async function difference(
  rpcs: readonly JsonRpc[],
  network: Parameters<typeof verifyRouter>[1],
): Promise<{ readonly message: string; readonly isWrong: boolean } | undefined> {
  let unread = "";
  for (const rpc of rpcs) {
    try {
      await verifyRouter(rpc, network);
      return undefined;
    } catch (error) {
      if (error instanceof WrongContractsError) return { message: error.message, isWrong: true };
      if (!(error instanceof RpcError)) throw error;
      unread = error.message;
    }
  }
  return { message: `not read: ${unread}`, isWrong: false };
}
