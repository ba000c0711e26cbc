import type { Refusal } from "../errors/errors.ts";
import { soon } from "../soon.ts";
import { answer } from "./answer.ts";
import { chainRefusal } from "./chain-refusal.ts";
import type { ServedNetwork, ServedNetworks } from "./served-network.ts";
import type { Handler } from "./server.ts";
import { toWireRelayer } from "./wire.ts";

/** Reports every network by itself: a service is up while one of its nodes is, and degraded while one is not. */
export function createHealth(networks: ServedNetworks): Handler {
  return async () => {
    const reports = await Promise.all(networks.all.map(healthOf));
    const [first] = reports;
    const well = reports.filter(({ refusal }) => refusal === undefined);
    if (first?.refusal !== undefined && well.length === 0) return first.refusal;
    const status = well.length === reports.length ? "ok" : "degraded";
    return answer({ status, ...first?.reported, networks: reports.map(({ reported }) => reported) });
  };
}

async function healthOf(network: ServedNetwork): Promise<{ reported: object; refusal: Refusal | undefined }> {
  const { options, rpc, snapshots, intake } = network;
  try {
    const { head, relayer } = await soon(
      rpc.host,
      snapshots.current().then(async (newest) => ({ head: newest.head, relayer: await intake.report(newest.head) })),
    );
    const reported = {
      network: options.name,
      refusal: null,
      blockNumber: head.number,
      gasless: relayer !== undefined && relayer.refusal === undefined,
      relayer: relayer === undefined ? null : toWireRelayer(relayer),
    };
    return { reported, refusal: undefined };
  } catch (error) {
    const refusal = chainRefusal(error);
    if (refusal === undefined) throw error;
    const reported = {
      network: options.name,
      refusal: refusal.error,
      blockNumber: null,
      gasless: false,
      relayer: null,
    };
    return { reported, refusal };
  }
}
