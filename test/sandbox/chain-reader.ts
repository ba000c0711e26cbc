import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import type { Address } from "../../src/domain/money/address.ts";
import { type Contract, loadContract, loadUniswap } from "../../src/sandbox/artifacts.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import type { SandboxPool, SandboxWorld } from "../../src/sandbox/world.ts";

/** Calls a view function and answers its decoded results. */
export async function view(
  rpcUrl: string,
  contract: Contract,
  at: { to: Address; method: string; values?: readonly unknown[] },
): Promise<unknown[]> {
  const data = contract.abi.encodeFunctionData(at.method, at.values ?? []);
  const answer = await createRpc(rpcUrl).call("eth_call", { to: at.to, data }, "latest");
  return [...contract.abi.decodeFunctionResult(at.method, String(answer))];
}

export async function balanceOf(rpcUrl: string, token: Address, owner: Address): Promise<bigint> {
  const [raw] = await view(rpcUrl, loadContract("PermitToken"), { to: token, method: "balanceOf", values: [owner] });
  return BigInt(String(raw));
}

/** A feed's answer in dollars. */
export async function feedDollars(rpcUrl: string, feed: Address): Promise<number> {
  const [, answer] = await view(rpcUrl, loadContract("PriceFeed"), { to: feed, method: "latestRoundData" });
  return Number(answer) / 1e8;
}

/** Whole tokens 1 for one whole token 0, as the pool stands. */
export async function poolPrice(world: SandboxWorld, pool: SandboxPool): Promise<number> {
  const decimals = world.tokens[pool.token0].decimals - world.tokens[pool.token1].decimals;
  if (pool.kind === 1) {
    const [reserve0, reserve1] = await view(world.rpcUrl, loadUniswap("UniswapV2Pair"), {
      to: pool.address,
      method: "getReserves",
    });
    return (Number(reserve1) / Number(reserve0)) * 10 ** decimals;
  }
  const [sqrtX96] = await view(world.rpcUrl, loadUniswap("UniswapV3Pool"), { to: pool.address, method: "slot0" });
  return (Number(sqrtX96) / 2 ** 96) ** 2 * 10 ** decimals;
}

/** Whether anything listens on a port of loopback. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Ids of the processes that carry this port in their command line: the chain and its watchdog, or those of them that
 * run the given program (Linux only).
 */
export function processesOfPort(port: number, program?: string): number[] {
  const ids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return ids.map(Number).filter((id) => {
    const path = `/proc/${id}/cmdline`;
    try {
      const words = existsSync(path) ? readFileSync(path, "utf8").split("\0") : [];
      const carries = words.some((word, index) => word === String(port) && words[index - 1] !== "--chain-id");
      return carries && (program === undefined || words[0] === program);
    } catch {
      // It ended while we looked: then it is not there.
      return false;
    }
  });
}

export function portOf(rpcUrl: string): number {
  return Number(new URL(rpcUrl).port);
}

/** Waits until a condition holds. @throws Error when it does not in time */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
