import { expect, test } from "vitest";
import { thisMachine } from "../../src/app/machine.ts";
import { openSigners } from "../../src/app/open-signers.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { Secret } from "../../src/net/secret.ts";
import type { Signer } from "../../src/ports/signer.ts";
import { loaded, MAIN, WALLET } from "../config/project.ts";
import { NOW_MS, ROUTER } from "../support/builders.ts";
import { createOutside, openLife } from "../support/engine-life.ts";
import { silentLogger } from "../support/silent-logger.ts";

const address = toAddress(WALLET);
const fees = { gasLimit: 21_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const transaction = { chainId: 8453, nonce: 0, to: ROUTER, data: "0x", value: 0n, ...fees } as const;
const typedData = { domain: {}, types: { Swap: [] }, primaryType: "Swap", message: {} };

test("no key is used before it is known that it may be, and not at all where it may not", async () => {
  const done: string[] = [];
  const key: Signer = {
    address,
    signTransaction: async () => {
      done.push("transaction");
      return { raw: "0x02", hash: "0x03" };
    },
    signTypedData: async () => {
      done.push("typed data");
      return "0x04";
    },
  };
  let refusal: Error | undefined;
  const deps = {
    ...{ machine: thisMachine(), logger: silentLogger(), alerts: openLife(createOutside(NOW_MS)).context.deps },
    secrets: {
      ...{ open: () => new Secret("none"), rpcUrls: () => [], submitUrls: () => [], privateKey: () => undefined },
      signer: async () => key,
    },
    onFatal: () => undefined,
  };
  const signers = await openSigners(
    loaded({ "main.yaml": MAIN }, { RPC_1: "http://127.0.0.1:1" }),
    deps,
    async (of) => {
      done.push(`asked for ${of}`);
      if (refusal !== undefined) throw refusal;
    },
  );
  const signer = signers.byAddress.get(address);
  await signer?.signTransaction(transaction);
  await signer?.signTypedData(typedData);
  const asked = `asked for ${address}`;
  expect(done.splice(0)).toEqual([asked, "transaction", asked, "typed data"]);
  refusal = new Error("the database is another daemon's");
  await expect(signer?.signTransaction(transaction)).rejects.toThrow(refusal);
  await expect(signer?.signTypedData(typedData)).rejects.toThrow(refusal);
  expect(done).toEqual([asked, asked]);
  signers.close();
});
