import type { Configuration, WalletConfiguration } from "../../config/configuration.ts";
import { NATIVE_TOKEN, parseAddress } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import {
  type AllowancesSeen,
  isUnbounded,
  readAllowances,
  type StandingAllowance,
  type UnreadAllowance,
} from "../read-allowances.ts";
import { type ChangeOptions, configurationOf, findTarget, findTargetToChange, nameTarget } from "../target.ts";
import { formatTable, formatTokenAmount, type Terminal } from "../terminal.ts";
import { request } from "./request.ts";

/** `swapd allowances list`: every allowance of the wallets that stands on the chain now. */
export async function listAllowances(options: { config?: string; json?: boolean }, terminal: Terminal): Promise<void> {
  const target = findTarget(options);
  sayMode(target, options, terminal);
  showAllowances(await readAllowances(configurationOf(target), { skipsRefused: true }), options, terminal);
}

/** As a table or as JSON, with what could not be read. */
export function showAllowances(
  { allowances, unread }: AllowancesSeen,
  options: { readonly json?: boolean },
  terminal: Pick<Terminal, "out" | "err">,
): void {
  for (const { wallet, token, spender, reason } of unread)
    terminal.err(`what ${spender} may take of ${token.symbol} of ${wallet.name} is not known: ${reason}`);
  if (options.json === true) {
    terminal.out(JSON.stringify({ allowances: allowances.map(allowanceJson), unread: unread.map(unreadJson) }));
    return;
  }
  if (allowances.length === 0) {
    const none = "no contract may take any token of the wallets";
    terminal.out(unread.length === 0 ? none : "of the tokens that answer, no contract may take any");
    return;
  }
  const heading = ["WALLET", "TOKEN", "SPENDER", "MAY TAKE", "USD", "SWAP"];
  terminal.out(formatTable([heading, ...allowances.map(rowOf)]));
}

function placeJson({ wallet, token, spender }: Omit<UnreadAllowance, "reason">): object {
  return {
    wallet: { name: wallet.name, address: wallet.address },
    token: { symbol: token.symbol, address: token.address, decimals: token.decimals },
    spender,
  };
}

function unreadJson({ reason, ...place }: UnreadAllowance): object {
  return { ...placeJson(place), reason };
}

function allowanceJson({ amount, usd, swap, ...place }: StandingAllowance): object {
  return {
    ...placeJson(place),
    amount: amount.toString(),
    usd: usd === undefined ? null : formatUnits(usd, USD_DECIMALS),
    swap: swap ?? null,
  };
}

function rowOf({ wallet, token, spender, amount, usd, swap }: StandingAllowance): string[] {
  const shown = isUnbounded(amount) ? `unlimited ${token.symbol}` : formatTokenAmount(amount.toString(), token);
  const worth = usd === undefined ? "-" : formatUnits(usd, USD_DECIMALS).replace(/(\.\d\d)\d*$/, "$1");
  return [wallet.name, token.symbol, spender, shown, worth, swap ?? "-"];
}

/** `swapd allowances revoke`: asks the running daemon to take back what a wallet allowed others to take of a token. */
export async function revokeAllowances(
  named: string,
  options: ChangeOptions & { wallet?: string },
  terminal: Terminal,
): Promise<void> {
  const target = findTargetToChange(options);
  const found = configurationOf(target);
  const token = findToken(found.configuration, named);
  const wallet = findWallet(found.configuration, options.wallet);
  const { allowances } = await readAllowances(found, { wallet: wallet.name, token: token.address });
  if (allowances.length === 0) {
    terminal.out(`no contract may take ${token.symbol} of ${wallet.name}: nothing to revoke\n${nameTarget(target)}`);
    return;
  }
  for (const { spender } of allowances) {
    const args = { wallet: wallet.address, token: token.address, spender };
    await request({ name: "revoke", arguments: args }, options, terminal);
  }
}

function findToken({ tokens }: Configuration, named: string): Token {
  const address = parseAddress(named);
  const all = [...tokens.values()].map(({ token }) => token).filter((token) => token.address !== NATIVE_TOKEN);
  const found = all.find((token) => token.symbol === named || token.address === address);
  if (found !== undefined) return found;
  const symbols = all.map(({ symbol }) => symbol).join(", ");
  throw new CommandFailure(EXIT.usage, `${JSON.stringify(named)} is no configured token; there are ${symbols}`);
}

function findWallet({ wallets }: Configuration, named: string | undefined): WalletConfiguration {
  const names = [...wallets.keys()];
  const name = named ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) throw new CommandFailure(EXIT.usage, `name one with --wallet: ${names.join(", ")}`);
  const found = wallets.get(name);
  if (found !== undefined) return found;
  throw new CommandFailure(EXIT.usage, `${JSON.stringify(name)} is no wallet; there are ${names.join(", ")}`);
}
