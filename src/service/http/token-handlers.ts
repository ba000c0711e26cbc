import { parseAddress, toAddress } from "../../domain/money/address.ts";
import { refuse } from "../errors/errors.ts";
import { kindOf } from "../pools/kinds.ts";
import { answer, isRefusal } from "./answer.ts";
import { parseShape } from "./parse-request.ts";
import * as requests from "./request-schemas.ts";
import type { ServedNetworks } from "./served-network.ts";
import type { Handlers } from "./server.ts";
import { toWireBalance, toWireNetwork, toWireToken } from "./token-wire.ts";

/** Entries of one answer; a client asks for the next ones with `offset`. */
const PAGE_LENGTH = 100;

/** Wallets whose balances cost as much as a usual request: one packed read. */
const WALLETS_OF_A_REQUEST = 10;

/** Each address that is searched for is a contract of somebody's that the node runs. */
function isAddressText(text: string): boolean {
  return parseAddress(text.trim()) !== undefined;
}

type TokenHandlers = Pick<Handlers, "liquiditySources" | "networks" | "token" | "tokens" | "balances" | "allowance">;

/** What clients ask for besides swaps: which networks, sources and tokens there are, and what wallets have. */
export function createTokenHandlers(networks: ServedNetworks): TokenHandlers {
  return {
    liquiditySources: async (input) => {
      const parsed = parseShape(requests.liquiditySourcesQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const network = networks.named("networkName", parsed.value.networkName);
      if (isRefusal(network)) return network;
      return answer([...new Set(network.options.protocols.map((protocol) => kindOf(protocol).source))]);
    },
    networks: async () => answer(networks.all.map(({ options }) => toWireNetwork(options))),
    token: async (input) => {
      const parsed = parseShape(requests.tokenQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const network = networks.named("networkName", parsed.value.networkName);
      if (isRefusal(network)) return network;
      const token = await network.tokenList.token(toAddress(parsed.value.address));
      if (token === undefined) return refuse("TOKEN_UNKNOWN", { parameter: "address" });
      return answer(toWireToken(token, network.options));
    },
    tokens: async (input, caller) => {
      const parsed = parseShape(requests.tokensBody, input);
      if (parsed.kind !== "ok") return parsed;
      const { networkNames, searchValue, exact, offset, exclude } = parsed.value;
      const served = networks.listed("networkNames", networkNames);
      if (isRefusal(served)) return served;
      const values = typeof searchValue === "string" ? [searchValue] : searchValue;
      const heavy = caller.charge(values.filter(isAddressText).length * served.length);
      if (heavy !== undefined) return heavy;
      const search = { values, exact, exclude: exclude.map(toAddress) };
      const found = await Promise.all(
        served.map(async ({ tokenList, options }) => {
          return (await tokenList.search(search)).map((token) => toWireToken(token, options));
        }),
      );
      return answer(found.flat().slice(offset, offset + PAGE_LENGTH));
    },
    balances: async (input, caller) => {
      const parsed = parseShape(requests.balancesBody, input);
      if (parsed.kind !== "ok") return parsed;
      const { networkNames, walletAddresses, offset } = parsed.value;
      const served = networks.listed("networkNames", networkNames);
      if (isRefusal(served)) return served;
      const wallets = [...new Set(walletAddresses.map(toAddress))];
      const heavy = caller.charge(Math.ceil((wallets.length * served.length) / WALLETS_OF_A_REQUEST));
      if (heavy !== undefined) return heavy;
      const found = await Promise.all(
        served.map(async ({ balances, options }) => {
          return (await balances.of(wallets)).map((balance) => toWireBalance(balance, options));
        }),
      );
      return answer(found.flat().slice(offset, offset + PAGE_LENGTH));
    },
    allowance: async (input) => {
      const parsed = parseShape(requests.allowanceQuery, input);
      if (parsed.kind !== "ok") return parsed;
      const { networkName, walletAddress, tokenAddress, spenderAddress } = parsed.value;
      const network = networks.named("networkName", networkName);
      if (isRefusal(network)) return network;
      const allowance = await network.balances.allowance({
        token: toAddress(tokenAddress),
        owner: toAddress(walletAddress),
        spender: toAddress(spenderAddress),
      });
      if (allowance === undefined) return refuse("TOKEN_UNKNOWN", { parameter: "tokenAddress" });
      return answer({ allowance: allowance.toString() });
    },
  };
}
