import type { Head } from "../../chain/at-block/head.ts";
import type { Logger } from "../../ports/logger.ts";
import { isSettled, type NetworkOptions } from "../options.ts";
import type { RelayerStatus } from "../quotes/quoter.ts";
import { createFeePrices } from "./fee-prices.ts";
import { relayGasPrice } from "./gas-terms.ts";
import { createClosedIntake, createIntake, type GaslessIntake, type IntakeDependencies } from "./intake.ts";
import { lockRelayer, openRelayer, type RelayerDependencies } from "./relayer.ts";

/** The gasless swaps of one network. */
export interface Relay {
  readonly intake: GaslessIntake;
  /** undefined: none are taken */
  readonly status: RelayerStatus | undefined;
  stop(): Promise<void>;
}

type Parts = Pick<IntakeDependencies, "rpc" | "snapshots" | "quotes" | "tokens" | "store" | "clock"> & {
  readonly logger: Logger;
};

/**
 * Opens the intake of a network, and its relayer where one is configured.
 * @param database the service's, next to which the relayer's lock is
 * @throws InUseError when another service sends from the relayer's account
 */
export function startRelay(
  { network, database }: { network: NetworkOptions; database: string },
  parts: Parts,
  own: RelayerDependencies | undefined,
): Relay {
  const { relayer } = network;
  if (relayer === undefined || own === undefined || !isSettled(network)) {
    return { intake: createClosedIntake(parts.store), status: undefined, stop: async () => undefined };
  }
  const { store, rpc, snapshots, clock, logger } = parts;
  const head = async (): Promise<Head> => (await snapshots.current()).head;
  const { address } = own.signer;
  const lock = lockRelayer(database, { chainId: network.chainId, account: address });
  const opened = openRelayer({ relayer, network }, { ...own, store, rpc, head, clock, logger });
  const { feeMarginPpm, tips } = relayer;
  const fees = createFeePrices(network);
  if (fees.tokens.length === 0) {
    logger.warn({ account: address }, "no listed token but the native one has a price feed: no swap fee is taken");
  }
  const intake = createIntake({ network, relayer: address, feeMarginPpm, tips }, { ...parts, ...opened, fees, clock });
  const { state, places } = opened;
  const status: RelayerStatus = {
    address,
    fees,
    gasPrice: (newest) => relayGasPrice(newest, tips),
    refusal: async (place, newest) =>
      (await state.refusal(newest)) ?? (place === undefined ? undefined : places.refusal(place)),
    feeCap: state.feeCap,
  };
  const stop = async (): Promise<void> => {
    await opened.runner.stop();
    lock.release();
  };
  return { intake, status, stop };
}
