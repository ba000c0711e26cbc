import { AbiCoder } from "ethers";
import type { SafeCall } from "../../src/domain/guard/multi-send.ts";
import { MARK_FACTORY, MARK_FACTORY_CODE } from "../../src/domain/guard/once-mark.ts";
import { SAFE_CONTRACTS } from "../../src/domain/guard/safe-contracts.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import { ACCOUNT } from "./engine-life.ts";
import { FakeChain } from "./fake-chain.ts";
import { FakeRevert } from "./fake-ledger.ts";
import { byteHash } from "./reading-samples.ts";

const SUCCESS = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e";
const NONCE = "safe nonce";
const IS_OWNER = "0x2f54bf6e";
const accountIn = (data: Hex): Address => toAddress(`0x${data.slice(-40)}`);
const VERSION = "1.4.1";

/**
 * The fake chain on which the account is a Safe, version 1.4.1, as that behaves: it counts its executions, writes an event
 * of each, and a call that fails reverts all of them.
 */
export class SafeChain extends FakeChain {
  private tries = 0;
  /** its owners, as it answers */
  owners: readonly Address[] = [];

  override async call(request: { to: Address; data: Hex }, block?: number): Promise<Hex | undefined> {
    if (request.to === MARK_FACTORY) return this.made(request.data, block) ? undefined : "0x60";
    if (request.to !== ACCOUNT) return await super.call(request, block);
    const coder = AbiCoder.defaultAbiCoder();
    if (request.data === "0xa619486e") return coder.encode(["address"], [SAFE_CONTRACTS[VERSION].singletons[0]]) as Hex;
    if (request.data.startsWith(IS_OWNER))
      return coder.encode(["bool"], [this.owners.includes(accountIn(request.data))]) as Hex;
    if (request.data === "0xffa1ad74") return coder.encode(["string"], [VERSION]) as Hex;
    return coder.encode(["uint256"], [this.stateAt(block).values.get(NONCE) ?? 0n]) as Hex;
  }

  override async code(address: Address, block?: number): Promise<Hex> {
    if (address === MARK_FACTORY) return MARK_FACTORY_CODE;
    const isSafes = [ACCOUNT, SAFE_CONTRACTS[VERSION].multiSendCallOnly].includes(address);
    return isSafes ? "0x60" : await super.code(address, block);
  }

  /** Whether the factory made an account by a block: it reverts from then on. */
  private made(data: Hex, block?: number): boolean {
    return this.stateAt(block).values.has(`made ${data}`);
  }

  /** Its next nonce. */
  get safeNonce(): bigint {
    return this.ledger.values.get(NONCE) ?? 0n;
  }

  /** Owners execute calls in the newest block. @returns whether it succeeded */
  byOwners(
    calls: readonly SafeCall[],
    { nonce = this.safeNonce, hash = byteHash(1) }: { nonce?: bigint; hash?: Hex } = {},
  ): boolean {
    this.tries += 1;
    const { timestamp } = this.newest.head;
    return this.act(byteHash(6_000_000 + this.tries), (ledger) => {
      if (nonce !== (ledger.values.get(NONCE) ?? 0n)) throw new FakeRevert("GS026");
      ledger.values.set(NONCE, nonce + 1n);
      const logs = calls.flatMap((call) => ledger.execute({ ...call, from: ACCOUNT }, timestamp));
      return [...logs, { address: ACCOUNT, topics: [SUCCESS, hash], data: `0x${"0".repeat(64)}` }];
    }).succeeded;
  }
}
