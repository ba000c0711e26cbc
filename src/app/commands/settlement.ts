import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { openKeystore } from "../../adapters/keys/keystore.ts";
import { openLanes } from "../../adapters/sqlite/lanes.ts";
import type { JsonRpc } from "../../chain/json-rpc.ts";
import type { Configuration } from "../../config/configuration.ts";
import { type Address, NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { firstFees } from "../../lane/fees.ts";
import { Secret } from "../../net/secret.ts";
import type { Chain } from "../../ports/chain.ts";
import type { Signer } from "../../ports/signer.ts";
import { DEPLOYER, type PlannedContract } from "../../service/settlement/deployment.ts";
import { openDatabase } from "../../storage/database.ts";
import { acquireLock } from "../../storage/lock.ts";
import { crashPointFrom } from "../crash-point.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { namingKey } from "../key-failure.ts";
import { openChain } from "../open-chain.ts";
import { createCommandRuntime, type Runtime } from "../runtime.ts";
import {
  checkChainId,
  checkDeployer,
  codeAt,
  dataFeeOf,
  differences,
  executorOf,
  joinEndpoints,
  plannedContracts,
} from "../settlement-chain.ts";
import {
  createMissing,
  createWaiting,
  type Missing,
  offeredAtOnce,
  openDeploymentLane,
  signerElsewhere,
} from "../settlement-deployment.ts";
import { stopOnSignals } from "../stop-signals.ts";
import {
  type ChangeOptions,
  configurationOf,
  findTarget,
  findTargetToChange,
  nameTarget,
  type Target,
} from "../target.ts";
import type { Terminal } from "../terminal.ts";

export interface DeployOptions extends ChangeOptions {
  readonly keystore?: string;
  readonly passwordFile?: string;
  readonly yes?: boolean;
  readonly for?: number;
}

/** The simulation is of one block; the gas of a contract's creation hardly changes. */
const GAS_LIMIT_PERCENT = 115n;
const DEFAULT_FOR_MS = 30 * 60_000;
const NATIVE_DECIMALS = 18;

interface Scene {
  readonly configuration: Configuration;
  readonly runtime: Runtime;
  readonly rpc: JsonRpc;
  readonly chain: Chain;
}

function openScene(target: Target): Scene {
  const { configuration, env } = configurationOf(target);
  const runtime = createCommandRuntime(env);
  const [url, ...others] = runtime.secrets.rpcUrls(configuration);
  if (url === undefined) throw new CommandFailure(EXIT.no, "the configuration names no RPC endpoint");
  const rpc = joinEndpoints([url, ...others], configuration);
  return { configuration, runtime, rpc, chain: openChain(configuration, runtime.secrets) };
}

/** `swapd settlement verify`: checks deployed contracts against what this release compiles. */
export async function verifySettlement(
  given: string | undefined,
  options: { config?: string },
  terminal: Terminal,
): Promise<void> {
  const scene = openScene(findTarget(options));
  const { configuration, rpc } = scene;
  await checkChainId(rpc, configuration);
  const settlement = given === undefined ? undefined : parseAddress(given);
  if (given !== undefined && settlement === undefined) throw new CommandFailure(EXIT.usage, `${given} is no address`);
  const address = settlement ?? configuration.network.settlement ?? plannedContracts(configuration)[1].address;
  const executor = await executorOf(rpc, address);
  if (executor === undefined) {
    const name = configuration.network.name;
    throw new CommandFailure(EXIT.no, `there is no settlement contract of ours at ${address} on ${name}`);
  }
  await report(scene, { settlement: address, executor }, terminal);
}

async function report(
  { rpc, configuration }: Scene,
  place: { settlement: Address; executor: Address },
  terminal: Terminal,
): Promise<void> {
  const found = await differences(rpc, configuration, place);
  if (found.length > 0) {
    const advice =
      "Do not approve or sign for these contracts: they are not what this release compiles. What an older release put " +
      "there, that release verifies.";
    throw new CommandFailure(EXIT.no, `${found.join("\n")}\n${advice}`);
  }
  terminal.out(
    `settlement ${place.settlement} and executor ${place.executor}: the code is this release's, byte for byte`,
  );
}

/** `swapd settlement deploy`: shows what it would send and cost; sends it with `--yes`. */
export async function deploySettlement(options: DeployOptions, terminal: Terminal): Promise<void> {
  const target = findTargetToChange(options);
  const scene = openScene(target);
  terminal.err(nameTarget(target));
  const { configuration, rpc } = scene;
  await checkChainId(rpc, configuration);
  const contracts = plannedContracts(configuration);
  const [executor, settlement] = contracts;
  const place = { executor: executor.address, settlement: settlement.address };
  const signer = await operatorOf(options, configuration);
  const missing = await findMissing(scene, contracts, signer?.address);
  if (missing.length > 0) {
    await printPlan(scene, { contracts, missing, signer }, terminal);
    if (options.yes !== true) {
      terminal.out("nothing was signed; the same command with --yes sends it");
      return;
    }
    if (signer === undefined) throw new CommandFailure(EXIT.usage, "--yes needs --keystore and --password-file");
    await send(scene, { missing, signer, forMs: options.for ?? DEFAULT_FOR_MS }, terminal);
  }
  await report(scene, place, terminal);
  terminal.out(`for the configuration:  service: { settlement: "${place.settlement}" }`);
}

async function operatorOf(
  { keystore, passwordFile }: DeployOptions,
  { wallets }: Configuration,
): Promise<Signer | undefined> {
  if (keystore === undefined && passwordFile === undefined) return undefined;
  if (keystore === undefined || passwordFile === undefined) {
    throw new CommandFailure(EXIT.usage, "--keystore and --password-file go together");
  }
  for (const file of [keystore, passwordFile]) {
    if (!existsSync(file)) throw new CommandFailure(EXIT.usage, `there is no file ${file}`);
  }
  const password = new Secret(readFileSync(passwordFile, "utf8").replace(/\r?\n$/, ""));
  const json = readFileSync(keystore, "utf8");
  const signer = await namingKey(`${keystore}, with the password in ${passwordFile}`, () =>
    openKeystore({ json, password }),
  );
  const wallet = [...wallets.values()].find(({ address }) => address === signer.address);
  if (wallet === undefined) return signer;
  const message = `${signer.address} is the wallet ${wallet.name}, whose daemon halts when something else sends from it`;
  throw new CommandFailure(EXIT.no, `${message}: deploy from an account that nothing else uses`);
}

/** What is not there yet, in one simulation: the settlement is created on top of its executor. */
async function findMissing(
  { rpc, chain, configuration }: Scene,
  contracts: readonly PlannedContract[],
  from: Address = NATIVE_TOKEN,
): Promise<readonly Missing[]> {
  const codes = await Promise.all(contracts.map(({ address }) => codeAt(rpc, address)));
  const absent = contracts.filter((_, index) => codes[index] === "0x");
  if (absent.length === 0) return [];
  await checkDeployer(rpc, configuration);
  const calls = absent.map(({ data }) => ({ from, to: DEPLOYER.address, data, value: 0n }));
  const outcome = await chain.simulate(calls);
  if (outcome.kind !== "ok") {
    const advice = "check that network's wrapped native token and factories are contracts on this chain";
    throw new CommandFailure(EXIT.no, `the deployment does not work (${outcome.kind}: ${outcome.reason}): ${advice}`);
  }
  return absent.map((contract, index) => {
    const gas = outcome.gasUsedByCall[index] ?? 0n;
    return { ...contract, gasLimit: (gas * GAS_LIMIT_PERCENT) / 100n };
  });
}

async function printPlan(
  { chain, configuration, rpc }: Scene,
  plan: { contracts: readonly PlannedContract[]; missing: readonly Missing[]; signer: Signer | undefined },
  terminal: Terminal,
): Promise<void> {
  const { nativeSymbol, name } = configuration.network;
  const coins = (wei: bigint): string => `${formatUnits(wei, NATIVE_DECIMALS)} ${nativeSymbol}`;
  const { maxFeePerGas } = configuration.policy;
  const head = await chain.latest();
  const priorityFee = await chain.priorityFee();
  const gasPrice = head.baseFeePerGas + priorityFee;
  const gas = plan.missing.reduce((sum, { gasLimit }) => sum + gasLimit, 0n);
  const dataFee = await dataFeeOf(rpc, configuration, plan.missing);
  terminal.out(`network     ${name}, through the deployment proxy ${DEPLOYER.address}`);
  for (const contract of plan.contracts) {
    const isThere = !plan.missing.some(({ address }) => address === contract.address);
    terminal.out(`${contract.name.padEnd(11)} ${contract.address} ${isThere ? "is there already" : "to be created"}`);
  }
  terminal.out(`gas         at most ${gas}, now at ${formatUnits(gasPrice, 9)} gwei: ${coins(gas * gasPrice)}`);
  if (dataFee > 0n) terminal.out(`data        now ${coins(dataFee)} on top, which no policy can bound`);
  const most = `${coins(gas * maxFeePerGas)}${dataFee > 0n ? " for gas" : ""}`;
  terminal.out(`never more  than ${most}, by the policy's max_gas_price`);
  if (plan.signer === undefined) return;
  const balance = await chain.nativeBalance(plan.signer.address);
  terminal.out(`operator    ${plan.signer.address} has ${coins(balance)}`);
  const fees = firstFees({ baseFeePerGas: head.baseFeePerGas, priorityFee }, maxFeePerGas);
  if (fees === undefined) {
    const advice = "nothing would be sent; run the command again when gas is cheaper, or raise it";
    throw new CommandFailure(EXIT.tryAgain, `that is above the policy's max_gas_price: ${advice}`);
  }
  const least = offeredAtOnce(plan.missing, { gasPrice, ...fees }) + dataFee;
  if (balance < least) {
    const why = "a transaction is not sent without what it offers, and it offers twice the base fee of now";
    const message = `that is too little: ${coins(least)} are needed, for ${why}`;
    throw new CommandFailure(EXIT.no, `${message}; send ${plan.signer.address} some ${nativeSymbol} first`);
  }
}

async function send(
  { configuration, chain, runtime, rpc }: Scene,
  job: { missing: readonly Missing[]; signer: Signer; forMs: number },
  terminal: Terminal,
): Promise<void> {
  const { chainId } = configuration.network;
  const file = join(dirname(configuration.database), `settlement-${chainId}.db`);
  const lock = acquireLock(`${file}.lock.db`);
  if (lock.kind === "held") throw new CommandFailure(EXIT.tryAgain, `another deployment is under way (${lock.holder})`);
  const db = openDatabase({ file });
  const stop = stopOnSignals(job.forMs);
  let isStopped = false;
  void stop.asked.then(() => {
    isStopped = true;
  });
  try {
    const lanes = openLanes(db);
    const crashPoint = crashPointFrom(runtime.env, "settlement.");
    const waiting = createWaiting((reason) => terminal.err(`waits       ${reason}`));
    const lane = openDeploymentLane(configuration, {
      ...{ lanes, chain, signer: job.signer, crashPoint, waits: waiting.hear },
      logger: runtime.logger,
    });
    const account = { account: job.signer.address, chainId: configuration.network.chainId };
    const other = signerElsewhere(lanes, account, job.missing);
    if (other !== undefined) {
      const message = `${other} has signed for this deployment (${file}), and its transaction may still be mined`;
      throw new CommandFailure(EXIT.no, `${message}: go on with the key of that account`);
    }
    terminal.err(`journal     ${file}`);
    const deployment = {
      ...{ ...account, lane, lanes, maxFeePerGas: configuration.policy.maxFeePerGas },
      isThere: async ({ address }: PlannedContract) => (await codeAt(rpc, address)) !== "0x",
      async wait() {
        await Promise.race([systemClock.sleep(configuration.timing.pollIntervalMs), stop.asked]);
        return !isStopped;
      },
    };
    const progress = await createMissing(deployment, job.missing);
    if (progress.kind === "done") return;
    if (progress.kind === "halted") {
      // Final blocks count at least as many transactions as were signed here: none of those can be mined any more.
      const advice = `find out what sent it, move ${file} away (nothing that was signed by it can still be mined)`;
      throw new CommandFailure(
        EXIT.no,
        `${progress.reason}; ${advice}, and deploy from an account that nothing else uses`,
      );
    }
    if (progress.kind === "ended") throw new CommandFailure(EXIT.no, progress.reason);
    const [reason, advice] = [waiting.reason(), "the same command again goes on where this one stopped"];
    const why = reason === undefined ? "" : ` (${reason})`;
    throw new CommandFailure(EXIT.tryAgain, `still under way${why}: ${advice}`);
  } finally {
    stop.done();
    db.close();
    lock.release();
  }
}
