import { ChainReadError } from "../domain/chain-read-error.ts";
import { SIMULATION_METHODS, type SimulationMethod } from "../domain/guard/simulation-method.ts";
import { type Address, toAddress } from "../domain/money/address.ts";
import type { Ability, AbilityFinding, EndpointReport } from "../ports/chain.ts";
import type { Endpoint } from "./endpoint.ts";
import { RpcError } from "./json-rpc.ts";
import { classOf, isHeldBack, lacksBlock } from "./node-errors.ts";
import { toQuantity } from "./quantity.ts";
import { proveWay } from "./simulation/proof.ts";

/** An address without key or contract, into which code is injected for the probe. */
const PROBE: Address = toAddress("0x7377617064206162696c6974792070726f626521");

/** push 42, push0, mstore, push 32, push0, return: only rules since Shanghai run it. */
const PUSH0_CODE = "0x602a5f5260205ff3";
const FORTY_TWO = `0x${"2a".padStart(64, "0")}`;

interface AbilityCheck {
  readonly ability: Ability;
  /** under which name the endpoint remembers it; overrides are tried by who needs them, ways where they are chosen */
  readonly remembered?: string;
  readonly run: (endpoint: Endpoint, options: ProbeOptions) => Promise<string | undefined>;
}

export interface ProbeOptions {
  /** blocks of one log query */
  readonly maxLogBlocks: number;
  /** the chain has no `finalized` tag, and none is needed */
  readonly finalityDepth?: number;
}

const methodCheck = (way: SimulationMethod): AbilityCheck => ({ ability: way, run: ({ ask }) => proveWay(way, ask) });

/** Each probe gives what is wrong, undefined where nothing is. */
const ABILITY_CHECKS: readonly AbilityCheck[] = [
  ...SIMULATION_METHODS.map(methodCheck),
  { ability: "finality", remembered: "finalized", run: tryFinality },
  { ability: "overrides", run: tryOverrides },
  { ability: "logs", remembered: "eth_getLogs", run: tryLogs },
];

/**
 * Finds out by trying what an endpoint can do of what trading needs; the name of a method alone proves nothing. No answer
 * proves nothing either: then it stays unknown.
 */
export async function probeEndpoint(endpoint: Endpoint, options: ProbeOptions): Promise<EndpointReport> {
  const findings: AbilityFinding[] = [];
  for (const { ability, remembered, run } of ABILITY_CHECKS) {
    const finding = await verdictOf(() => run(endpoint, options));
    if (remembered !== undefined && finding.state !== "unknown") endpoint.learn(remembered, finding.state === "able");
    findings.push({ ability, ...finding });
  }
  return { host: endpoint.host, findings };
}

async function verdictOf(run: () => Promise<string | undefined>): Promise<Omit<AbilityFinding, "ability">> {
  try {
    const problem = await run();
    return problem === undefined ? { state: "able" } : { state: "lacking", detail: problem };
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ChainReadError)) throw error;
    return { state: saysWhatItLacks(error) ? "lacking" : "unknown", detail: error.message };
  }
}

/** Whether an endpoint that gave this instead of an answer lacks what it was asked for: silence and patience say nothing of it. */
export function saysWhatItLacks(error: RpcError | ChainReadError): boolean {
  return error instanceof RpcError && classOf(error) !== "no-answer" && !isHeldBack(error) && !lacksBlock(error);
}

/** @returns what is wrong, undefined where calls run with the code that is lent to an account */
export async function tryOverrides(endpoint: Endpoint): Promise<string | undefined> {
  const answer = await endpoint.ask("eth_call", [
    { to: PROBE, data: "0x" },
    "latest",
    { [PROBE]: { code: PUSH0_CODE } },
  ]);
  return answer === FORTY_TWO ? undefined : "eth_call ignores state overrides";
}

async function tryFinality(endpoint: Endpoint, { finalityDepth }: ProbeOptions): Promise<string | undefined> {
  if (finalityDepth !== undefined) return undefined;
  const block = await endpoint.ask("eth_getBlockByNumber", ["finalized", false]);
  return block === null ? "there is no finalized block" : undefined;
}

async function tryLogs(endpoint: Endpoint, { maxLogBlocks }: ProbeOptions): Promise<string | undefined> {
  const { number } = fieldsOf(await endpoint.ask("eth_getBlockByNumber", ["latest", false]));
  const latest = typeof number === "string" ? Number(number) : Number.NaN;
  if (!Number.isSafeInteger(latest)) return "its newest block has no number";
  const range = {
    fromBlock: toQuantity(Math.max(0, latest - maxLogBlocks + 1)),
    toBlock: toQuantity(latest),
  };
  const answer = await endpoint.ask("eth_getLogs", [{ address: PROBE, topics: [], ...range }]);
  return Array.isArray(answer) ? undefined : "eth_getLogs gives no list";
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
