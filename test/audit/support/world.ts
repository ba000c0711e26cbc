import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditOptions, audit } from "../../../src/audit/audit.ts";
import type { AuditReport, DifferenceCode } from "../../../src/audit/report.ts";
import { type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { type Chain, DEPLOYER, startChain } from "./chain.ts";
import { createJournal, type Journal, openToSpoil } from "./journal.ts";
import { createTrader, type Trader } from "./trader.ts";

/** Somebody who is not audited. */
export const STRANGER = toAddress(`0x${"57".repeat(20)}`);

/** What a test may spoil. */
export interface Copy {
  readonly journal: Journal;
  readonly chain: Chain;
  readonly trader: Trader;
  /** trades with another service: its contract and its events say nothing to the audit */
  readonly foreignTrader: Trader;
}

/** One way to spoil a clean world, and all that an audit must then report. */
export interface Case {
  readonly hazard: string;
  readonly spoil: (copy: Copy) => unknown;
  readonly reports: readonly DifferenceCode[];
  /** the sums stay as they are; without it anyone who spoiled the rows put the sums right as well */
  readonly keepsSums?: true;
}

/** A world in which everything is right, and copies of it to spoil. */
export interface World {
  readonly chain: Chain;
  /** The clean database; each check of it works on a copy. */
  readonly database: string;
  /**
   * Audits a copy after spoiling it or the chain. The chain is put back afterwards; further swaps of `trader` belong to
   * the copy alone.
   */
  auditAfter(
    spoil: (copy: Copy) => unknown,
    options?: Partial<AuditOptions> & { readonly keepsSums?: true | undefined },
  ): Promise<AuditReport>;
  stop(): Promise<void>;
}

/** What is swapped after the swaps that every world has. */
type Trades = (trader: Trader, chain: Chain) => unknown;

/**
 * One swap of every kind: self-executed and gasless, from and to the native token, to another recipient, one that
 * expired, one that is open, and a deposit.
 */
export async function buildWorld(flags: readonly string[] = [], trades: Trades = () => undefined): Promise<World> {
  const chain = await startChain(flags);
  const folder = mkdtempSync(join(tmpdir(), "swapd-audit-"));
  const database = join(folder, "clean.db");
  const { ETH, USDC, DAI, WETH } = chain.tokens;
  const clean = createJournal(database);
  await writeBaselines(chain, clean);
  const first = createTrader(chain, clean);
  await first.swapSelfExecuted({ id: "own", sell: USDC, buy: WETH, amount: 5_000_000n });
  await first.swapSelfExecuted({ id: "from-native", sell: ETH, buy: USDC, amount: 10n ** 15n });
  await first.swapSelfExecuted({ id: "to-native", sell: USDC, buy: ETH, amount: 3_000_000n });
  await first.swapSelfExecuted({ id: "for-stranger", sell: USDC, buy: DAI, amount: 77_777n, recipient: STRANGER });
  await first.swapGasless({ id: "gasless", sell: USDC, buy: DAI, amount: 2_000_000n });
  await first.expire({ id: "expired", sell: DAI, buy: USDC, amount: 4_000n });
  await first.swapGasless({ id: "open", sell: DAI, buy: USDC, amount: 9_000n }, "not executed");
  const deposit = chain.contracts.usdc.abi.encodeFunctionData("mint", [chain.wallet.address, 123_456n]);
  await chain.send(DEPLOYER, USDC.address, deposit as Hex);
  await trades(first, chain);
  clean.recount();
  clean.close();

  let copies = 0;
  const auditAfter: World["auditAfter"] = async (spoil, { keepsSums, ...options } = {}) => {
    const copy = join(folder, `copy-${++copies}.db`);
    copyFileSync(database, copy);
    const journal = openToSpoil(copy);
    const before = await chain.snapshot();
    try {
      const { contracts } = chain;
      const elsewhere = { ...chain, contracts: { ...contracts, settlement: contracts.foreignSettlement } };
      const traders = { trader: createTrader(chain, journal), foreignTrader: createTrader(elsewhere, journal) };
      await spoil({ journal, chain, ...traders });
      if (keepsSums !== true) journal.recount();
      return await audit({ ...optionsFor(chain, copy), ...options });
    } finally {
      journal.close();
      await chain.revert(before);
    }
  };
  return {
    chain,
    database,
    auditAfter,
    stop: async () => {
      await chain.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How the world is audited when nothing is special. */
export function optionsFor(chain: Chain, database: string): AuditOptions {
  return {
    database,
    rpcUrl: chain.rpcUrl,
    chainId: chain.chainId,
    wrappedNative: chain.tokens.WETH.address,
    settlement: chain.contracts.settlement.address,
  };
}

/** The kinds of differences in a report, each once, sorted. */
export function codesOf(report: AuditReport): DifferenceCode[] {
  return [...new Set(report.differences.map(({ code }) => code))].sort();
}

export async function writeBaselines(chain: Chain, journal: Journal): Promise<void> {
  journal.insert("identity", { one: 1, network: "test", chain_id: chain.chainId, created_at_ms: 1 });
  const block = Number(await chain.rpc.call("eth_blockNumber", []));
  const wallet = toAddress(chain.wallet.address);
  for (const token of Object.values(chain.tokens)) {
    const balance =
      token.symbol === "ETH"
        ? await chain.nativeBalance(wallet)
        : await chain.call({ address: token.address, abi: chain.contracts.usdc.abi }, "balanceOf", wallet);
    journal.insert("baselines", {
      wallet,
      token: token.address,
      symbol: token.symbol,
      decimals: token.decimals,
      block_number: block,
      balance: String(balance),
    });
  }
}
