import type { Configuration } from "../config/configuration.ts";
import { smaller } from "../domain/money/bigint.ts";
import { formatPercent, type Ppm, toPpm } from "../domain/money/fraction.ts";
import type { Chain } from "../ports/chain.ts";
import type { Finding } from "./finding.ts";

/** Above this, what a trade may lose to its slippage is worth somebody's work who sees it before it is in a block. */
const MOST_SHOWN_SLIPPAGE: Ppm = toPpm(5_000);

/** To whom transactions are shown before they are in a block, and whether that is dear. */
export async function checkSending({
  configuration,
  chain,
}: {
  readonly configuration: Configuration;
  readonly chain: Chain;
}): Promise<Finding[]> {
  const { network } = configuration;
  const what = "sending";
  const endpoints = await chain.submitEndpoints();
  if (endpoints.length > 0) {
    const hosts = endpoints.map(({ host }) => host).join(", ");
    const whose = network.submit.kind === "book" ? " (relays of the network book: network.submit names none)" : "";
    const found = `privately: transactions go to ${hosts} alone${whose}${fallbackOf(network)}`;
    const silent = endpoints.filter(({ problem }) => problem !== undefined);
    const whatToDo =
      silent.length === endpoints.length
        ? "nothing can be sent: correct network.submit, or write submit: public"
        : undefined;
    return [
      { what, found, whatToDo },
      ...silent.map(({ host, problem }) => ({
        ...{ what, found: `${host} takes nothing now: ${problem}`, whatToDo: undefined, isWarning: true },
      })),
    ];
  }
  return [{ what, found: publicly(configuration), whatToDo: undefined }, ...dearSlippage(configuration)];
}

function fallbackOf({ fallback }: Configuration["network"]): string {
  if (fallback === undefined) return "";
  const { afterBlocks, slippage } = fallback;
  return `; a swap that is in no block after ${afterBlocks} is tried once more for everybody to see, with ${formatPercent(slippage)} of slippage at most`;
}

function publicly({ network: { sending, submit } }: Configuration): string {
  if (sending === "private-sequencer")
    return "to the RPC endpoints; before it is in a block the network's sequencer alone sees a transaction";
  if (sending === undefined) return "to the RPC endpoints; who sees a transaction there is not known of this network";
  const why =
    submit.kind === "book"
      ? "; an RPC endpoint without TLS may be a copy of the network, so no relay gets anything"
      : "";
  return `publicly: everybody may see a transaction before it is in a block${why}`;
}

/** What a trade may lose at most is what others can earn by trading around it. */
function dearSlippage({ network: { sending }, strategies, policy }: Configuration): Finding[] {
  if (sending === undefined || sending === "private-sequencer") return [];
  return strategies.flatMap(({ spec }) => {
    const slippage = smaller(spec.limits.slippage, policy.maxSlippage);
    if (spec.gasless === "only" || slippage <= MOST_SHOWN_SLIPPAGE) return [];
    const found =
      `${spec.id} allows ${formatPercent(slippage)} of slippage, and everybody sees its transactions: others may take ` +
      `that much of each trade; send privately (network.submit), or allow ${formatPercent(MOST_SHOWN_SLIPPAGE)} at most`;
    return [{ what: "sending", found, whatToDo: undefined, isWarning: true }];
  });
}
