import type { Configuration } from "../../../config/configuration.ts";
import { type Address, NATIVE_TOKEN } from "../../../domain/money/address.ts";
import type { Absence } from "../../../engine/reach.ts";
import { hostOf } from "../../../net/secret.ts";
import type { EndpointReport } from "../../../ports/chain.ts";
import type { HaltHistory, IntentHistory } from "../../../ports/history.ts";
import type { ListedAlert, ListedFill, ListedProposal, Listing, RecordedAudit } from "../../../ports/listing.ts";
import { type AllowancesSeen, isUnbounded } from "../../read-allowances.ts";
import { dollarsOf, instantOf, instantOrNull, moneyOf, NATIVE_DECIMALS } from "./describe-money.ts";
import { describeFill } from "./describe-run.ts";
import { kindOf } from "./describe-status.ts";
import type { AnswerOf } from "./operations.ts";
import { type Held, unreadTokens } from "./read-held.ts";

/** What the daemon's surroundings are described from. */
export interface OutsideParts {
  readonly configuration: Configuration;
  readonly endpoints: readonly EndpointReport[];
  readonly absence: Absence | undefined;
  /** the newest ones */
  readonly fills: readonly ListedFill[];
  /** hosts that transactions are sent to privately */
  readonly submit: readonly string[];
}

/** The service and the endpoints. */
export function describeServices({
  configuration,
  endpoints,
  absence,
  fills,
  submit,
}: OutsideParts): AnswerOf<"getServices"> {
  const { profile, url, contracts, furtherContracts } = configuration.service;
  const compared = fills
    .flatMap((fill) => describeFill(fill)?.againstQuote ?? [])
    .sort((a, b) => Number(a) - Number(b));
  const [worst, median, best] = [compared.at(0), compared.at(compared.length >> 1), compared.at(-1)];
  return {
    service: {
      ...{ profile, host: url === "embedded" ? url : hostOf(url) },
      ...{ ready: absence === undefined, reason: absence?.reason ?? null, since: instantOrNull(absence?.sinceMs) },
      ...{ spender: contracts?.spender ?? null, target: contracts?.target ?? null },
      further: furtherContracts.map(({ spender, target }) => ({ spender, target })),
    },
    fills: compared.length,
    againstQuote: worst === undefined || median === undefined || best === undefined ? null : { median, worst, best },
    endpoints: endpoints.map(({ host, findings }) => ({
      host,
      abilities: Object.fromEntries(findings.map(({ ability, state }) => [ability, state])),
    })),
    submit: [...submit],
  };
}

/** The wallets, by the rows, the configuration and what they have of the native coin now. */
export function describeWallets({
  configuration,
  known,
  held,
  halts,
}: {
  readonly configuration: Configuration;
  readonly known: ReadonlyMap<Address, Held>;
  readonly held: ReadonlyMap<Address, Held>;
  readonly halts: readonly HaltHistory[];
}): AnswerOf<"listWallets"> {
  const { mode, network, policy, strategies } = configuration;
  const tokens = new Map([...configuration.tokens.values()].map(({ token }) => [token.address, token]));
  const native = { symbol: network.nativeSymbol, address: NATIVE_TOKEN, decimals: NATIVE_DECIMALS };
  return {
    wallets: [...configuration.wallets.values()].map((wallet) => {
      const { name, address, delegate, key } = wallet;
      const chain = known.get(address);
      const gas = (held.get(address) ?? chain)?.balances.get(NATIVE_TOKEN);
      return {
        ...{ name, address, kind: kindOf(wallet, mode), delegate: delegate ?? null },
        signer: key?.kind === "remote" && mode !== "paper" ? hostOf(key.url) : null,
        halted: halts.find(({ account }) => account === address)?.reason ?? null,
        balances: [...(chain?.balances ?? [])].flatMap(([token, raw]) => {
          const known = tokens.get(token);
          return known === undefined ? [] : [moneyOf(raw, known)];
        }),
        unread: unreadTokens(chain, configuration.tokens.values()).map(({ symbol }) => symbol),
        ...{ block: chain?.block ?? null, fillsTo: chain?.fillsTo ?? null },
        gas: gas === undefined ? null : moneyOf(gas, native),
        gasReserve: moneyOf(policy.gasReserve, native),
        strategies: strategies.filter(({ spec }) => spec.wallet.address === address).map(({ spec }) => spec.id),
      };
    }),
  };
}

/** Allowances as the chain has them, and what tokens refuse to tell of them. */
export function describeAllowances(read: AllowancesSeen & { readonly atMs: number }): AnswerOf<"listAllowances"> {
  return {
    readAt: instantOf(read.atMs),
    allowances: read.allowances.map(({ wallet, token, spender, amount, usd, swap }) => ({
      ...{ wallet: wallet.name, spender, amount: moneyOf(amount, token), isUnlimited: isUnbounded(amount) },
      token: { symbol: token.symbol, address: token.address, decimals: token.decimals },
      usd: usd === undefined ? null : dollarsOf(usd),
      swap: swap ?? null,
    })),
    unread: read.unread.map(({ wallet, token: { symbol, address, decimals }, spender, reason }) => ({
      ...{ wallet: wallet.name, token: { symbol, address, decimals }, spender, reason },
    })),
  };
}

/** The wallets' own transactions. */
export function describeTransactions(intents: readonly IntentHistory[]): AnswerOf<"listTransactions"> {
  return {
    transactions: intents.map((intent) => ({
      ...{ id: intent.id, account: intent.account, purpose: intent.purpose, state: intent.state },
      ...{ outcome: intent.outcome, nonce: intent.nonce, to: intent.to, value: intent.value },
      ...{ createdAt: instantOf(intent.createdAtMs), block: intent.minedBlockNumber, cancelledBy: intent.cancelledBy },
      attempts: intent.attempts.map(({ signedAtMs, ...attempt }) => {
        const { hash, kind, visibility, state, maxFeePerGas, maxPriorityFeePerGas } = attempt;
        return { hash, kind, visibility, state, maxFeePerGas, maxPriorityFeePerGas, signedAt: instantOf(signedAtMs) };
      }),
    })),
  };
}

/** An alert or message. */
export function describeAlert(alert: ListedAlert): AnswerOf<"listAlerts">["items"][number] {
  const { number, severity, code, subject, text, strategy, run, raisedAtMs, overAtMs } = alert;
  return {
    number,
    severity,
    code,
    subject,
    text,
    strategy,
    run,
    at: instantOf(raisedAtMs),
    over: instantOrNull(overAtMs),
  };
}

/** Proposals that their owners have not decided. */
export function describeProposals(open: readonly ListedProposal[]): AnswerOf<"listProposals"> {
  return {
    proposals: open.map(({ swap, run, strategy, state, safe, nonce, hash, deadlineSeconds }) => ({
      ...{ swap, run, strategy, state, safe, nonce: nonce.toString(), hash: hash ?? null },
      deadline: deadlineSeconds === null ? null : instantOf(deadlineSeconds * 1_000),
    })),
  };
}

/** What audits found. */
export function describeAudits({ newest, whole }: Awaited<ReturnType<Listing["audits"]>>): AnswerOf<"getAudit"> {
  const recent = newest.map(describeAudit);
  return { last: recent[0] ?? null, whole: whole === undefined ? null : describeAudit(whole), recent };
}

function describeAudit(audit: RecordedAudit): AnswerOf<"getAudit">["recent"][number] {
  const { atMs, madeBy: by, differences, findings, fromBlock, fromMs, toBlock, lookedAt: text } = audit;
  return {
    ...{ at: instantOf(atMs), by, clean: differences === 0, differences, findings: [...findings], text },
    ...{ fromBlock, from: instantOrNull(fromMs), toBlock },
  };
}
