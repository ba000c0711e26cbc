import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getAddress } from "ethers";
import { describe, expect, test } from "vitest";
import { batchFileOf } from "../../../src/adapters/proposals/batch-file.ts";
import { type BatchFile, checksumOf } from "../../../src/adapters/proposals/checksum.ts";
import { createProposalFolder } from "../../../src/adapters/proposals/folder.ts";
import type { PublishedProposal } from "../../../src/ports/treasury.ts";
import { ROUTER, USDC, WALLET } from "../../support/builders.ts";
import { memoryDirectory } from "../../support/temporary-directory.ts";

const proposal: PublishedProposal = {
  ...{ swapId: "run_1.0.1", safe: WALLET, chainId: 8453, hash: `0x${"9".repeat(64)}`, nonce: 12n },
  typedData: { domain: {}, types: {}, primaryType: "SafeTx", message: {} },
  calls: [{ to: USDC.address, value: 0n, data: "0x095ea7b3" }],
  ...{ deadlineSeconds: 1_700_000_000, purpose: "weekly: sell 100 USDC for at least 0.05 WETH", signature: undefined },
};

const files = (folder: string, nowMs = 1): ReturnType<typeof createProposalFolder> =>
  createProposalFolder({ safe: WALLET, folder }, { clock: { nowMs: () => nowMs } });

describe("a file of the Transaction Builder", () => {
  test("has the checksum that the builder computes itself", () => {
    // A file that Safe's own interface wrote (release 1.18.2).
    const written: BatchFile = {
      version: "1.0",
      chainId: "1",
      createdAt: 1761326849944,
      meta: {
        name: "Transactions Batch",
        description: "",
        txBuilderVersion: "1.18.2",
        createdFromSafeAddress: "0xA77DE01e157f9f57C7c4A326eeE9C4874D0598b6",
        createdFromOwnerAddress: "",
        checksum: "0x8b5032f716845c8b08bab3d63dbd9ba92e056f3557793cd041e59b84e16aa989",
      },
      transactions: [
        {
          to: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
          value: "0",
          data: null,
          contractMethod: {
            inputs: [
              { internalType: "address", name: "spender", type: "address" },
              { internalType: "uint256", name: "value", type: "uint256" },
            ],
            name: "approve",
            payable: false,
          },
          contractInputsValues: { spender: "0x474e5Ded6b5D078163BFB8F6dBa355C3aA5478C8", value: "100000000000" },
        },
      ],
    };
    expect(checksumOf(written)).toBe(written.meta.checksum);
  });

  test("names what is to be compared: nonce, hash and until when", () => {
    const { chainId, meta, transactions } = batchFileOf(proposal, 5);
    expect([chainId, meta.createdFromSafeAddress]).toEqual(["8453", getAddress(WALLET)]);
    expect(meta.description).toContain("before 2023-11-14T22:13:20.000Z, with the nonce 12");
    expect(meta.description).toContain(proposal.hash);
    const of = { to: getAddress(USDC.address), value: "0", data: "0x095ea7b3" };
    expect(transactions).toEqual([{ ...of, contractMethod: null, contractInputsValues: null }]);
    expect(getAddress(ROUTER)).not.toBe(ROUTER);
  });
});

describe("a folder of proposals", () => {
  test("gets each proposal once, whole, and not written anew after a kill", async () => {
    const folder = join(memoryDirectory(), "of", "proposals");
    expect(await files(folder, 5).publish(proposal)).toEqual({ kind: "published" });
    const [name = ""] = readdirSync(folder);
    expect(readdirSync(folder)).toEqual(["run_1.0.1.json"]);
    const before = readFileSync(join(folder, name), "utf8");
    expect(await files(folder, 6).publish(proposal)).toEqual({ kind: "published" });
    expect(readFileSync(join(folder, name), "utf8")).toBe(before);
  });

  test("what a kill left half written is no proposal", async () => {
    const folder = memoryDirectory();
    writeFileSync(join(folder, "run_1.0.1.json.unfinished"), '{"version"');
    expect(await files(folder).publish(proposal)).toEqual({ kind: "published" });
    expect(JSON.parse(readFileSync(join(folder, "run_1.0.1.json"), "utf8"))).toMatchObject({ version: "1.0" });
  });

  test("that cannot be written to leaves it unknown whether anybody has the proposal", async () => {
    const folder = join(memoryDirectory(), "file");
    writeFileSync(folder, "no folder");
    const answer = await files(folder).publish(proposal);
    expect(answer).toMatchObject({ kind: "undelivered", detail: expect.stringContaining("could not be written") });
  });

  test("a swap's name leads to no other folder", async () => {
    const folder = join(memoryDirectory(), "in");
    mkdirSync(folder);
    await files(folder).publish({ ...proposal, swapId: "../out" });
    expect([readdirSync(folder), existsSync(join(folder, "..", "out.json"))]).toEqual([[".._out.json"], false]);
  });
});
