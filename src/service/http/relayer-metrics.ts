import { Gauge, type Registry } from "prom-client";
import { WEI_PER_GWEI } from "../relayer/relay-book.ts";
import { soon } from "../soon.ts";
import { chainRefusal } from "./chain-refusal.ts";
import type { ServedNetwork } from "./served-network.ts";

/** @returns what brings the gauges of all relayers up to date */
export function addRelayerGauges(registry: Registry, networks: readonly ServedNetwork[]): () => Promise<void> {
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `swapd_service_${name}`, help, labelNames: ["network"], registers: [registry] });
  const gasless = gauge("gasless", "1: gasless swaps are taken now");
  const pending = gauge("relayer_pending", "accepted gasless swaps that are not over");
  const signer = gauge("relayer_signer_ready", "whether the signer elsewhere of the relayer signs");
  const amounts = {
    balance: gauge("relayer_balance_gwei", "native coins of the relayer"),
    minimumBalance: gauge("relayer_minimum_balance_gwei", "what it holds on top of the gas of accepted swaps"),
    setAside: gauge("relayer_set_aside_gwei", "expected gas of accepted swaps"),
    losses: gauge("relayer_losses_gwei", "gas of the last 24 hours beyond what swap fees repaid"),
    maxDailyLoss: gauge("relayer_max_daily_loss_gwei", "the most that losses may be"),
    spent: gauge("relayer_spent_gwei", "gas of the last 24 hours, whatever swap fees repaid"),
    maxDailyGas: gauge("relayer_max_daily_gas_gwei", "the most that may be spent"),
  };
  const readOne = async ({ options, rpc, snapshots, intake }: ServedNetwork): Promise<void> => {
    const network = options.name;
    const newest = snapshots.current().catch(ofNoUse);
    const reading = newest.then((snapshot) => intake.report(snapshot?.head));
    const report = await soon(rpc.host, reading).catch(ofNoUse);
    const isOpen = report !== undefined && report.refusal === undefined && (await newest) !== undefined;
    gasless.set({ network }, isOpen ? 1 : 0);
    if (report === undefined) return;
    pending.set({ network }, report.pending);
    if (report.signerReady !== undefined) signer.set({ network }, report.signerReady ? 1 : 0);
    for (const name of Object.keys(amounts) as (keyof typeof amounts)[]) {
      amounts[name].set({ network }, Number(report[name] / WEI_PER_GWEI));
    }
  };
  return async () => {
    await Promise.all(networks.map(readOne));
  };
}

/** A node that does not answer, or contracts that are not the configured ones, have a gauge of their own. */
function ofNoUse(error: unknown): undefined {
  if (chainRefusal(error) === undefined) throw error;
  return undefined;
}
