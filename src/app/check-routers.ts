import { createJsonRpc, type JsonRpc, RpcError } from "../chain/json-rpc.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import { verifyRouter } from "../service/settlement/verify-router.ts";
import { WrongContractsError } from "../service/settlement/views.ts";
import type { Finding } from "./finding.ts";
import type { Runtime } from "./runtime.ts";
import { unsettledProblem } from "./unsettled.ts";

const MAX_RPC_ANSWER_BYTES = 4_000_000;

/**
 * Holds the public routers that the service within the daemon trades with against the network's facts, as it does itself
 * at its start. A further one that is not as it should be is no problem: routes do without it. Nothing where swaps settle
 * elsewhere, or a service elsewhere quotes; why nothing is settled where that cannot be.
 */
export async function checkRouters(
  configuration: Configuration,
  { secrets, redactor }: Pick<Runtime, "secrets" | "redactor">,
): Promise<readonly Finding[]> {
  const unsettled = unsettledProblem(configuration);
  if (unsettled !== undefined) return [{ what: "settlement contract", found: "there is none", whatToDo: unsettled }];
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
      whatToDo: whatToDo(problem),
      ...(problem?.isWrong === false && { isWarning: true }),
    },
  ];
  for (const { address, codeHash } of furtherRouters) {
    const why = await look(address, codeHash);
    const without = why?.isWrong === true ? `; routes ${why.isSplit ? "may " : ""}do without it` : "";
    const found = why === undefined ? asItShould(address) : redactor.redact(why.message) + without;
    findings.push({ what: "further public router", found, whatToDo: undefined, ...(why && { isWarning: true }) });
  }
  return findings;
}

function asItShould(router: Address): string {
  return `${router} is as the network's facts say`;
}

function whatToDo(problem: Difference | undefined): string | undefined {
  if (problem?.isWrong !== true) return undefined;
  return problem.isSplit
    ? "take the endpoint that is wrong out of network.rpc: where the service asks that one, nothing is quoted"
    : "nothing is quoted: correct network.name, network.preset or service.target";
}

interface Difference {
  readonly message: string;
  /** an endpoint says so; false: none was read */
  readonly isWrong: boolean;
  /** another one says that nothing is wrong */
  readonly isSplit: boolean;
}

/** Why a router cannot be used. All endpoints are asked: where they do not say the same, the answer has what each said. */
async function difference(
  rpcs: readonly JsonRpc[],
  network: Parameters<typeof verifyRouter>[1],
): Promise<Difference | undefined> {
  const words = await Promise.all(rpcs.map((rpc) => wordOf(rpc, network)));
  const answers = words.filter(({ is }) => is !== "unread");
  const wrong = words.filter(({ is }) => is === "wrong");
  if (answers.length > 0 && wrong.length === 0) return undefined;
  const [first, ...others] = words.map(({ said }) => said);
  const isSame = others.every((said) => said === first);
  const message = isSame ? `${first}` : words.map(({ host, said }) => `${host} says: ${said}`).join("; ");
  return { message, isWrong: wrong.length > 0, isSplit: wrong.length < answers.length };
}

/** What one endpoint says of a router. */
async function wordOf(
  rpc: JsonRpc,
  network: Parameters<typeof verifyRouter>[1],
): Promise<{ readonly host: string; readonly is: "right" | "wrong" | "unread"; readonly said: string }> {
  const { host } = rpc;
  try {
    await verifyRouter(rpc, network);
    return { host, is: "right", said: "as it should be" };
  } catch (error) {
    if (error instanceof WrongContractsError) return { host, is: "wrong", said: error.message };
    if (!(error instanceof RpcError)) throw error;
    return { host, is: "unread", said: `not read: ${error.message}` };
  }
}
