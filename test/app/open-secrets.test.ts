import { expect, test } from "vitest";
import { createSecretOpener, withoutSignatures } from "../../src/app/open-secrets.ts";
import type { Configuration } from "../../src/config/configuration.ts";
import { createRedactor } from "../../src/net/redact.ts";

test("what looks ahead knows an account by its address, and cannot sign with its key", async () => {
  const env = { KEY: `0x${"11".repeat(32)}` };
  const source = { kind: "raw", privateKey: { env: "KEY" } } as const;
  const secrets = createSecretOpener(env, createRedactor());
  const real = await secrets.signer(source);
  const keyless = await withoutSignatures(secrets).signer(source);
  expect(keyless.address).toBe(real.address);
  const { address: to } = real;
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const transaction = { chainId: 1, nonce: 0, to, data: "0x", value: 0n, gasLimit: 21_000n, ...fees } as const;
  await expect(real.signTransaction(transaction)).resolves.toMatchObject({ raw: expect.stringMatching(/^0x02/) });
  await expect(keyless.signTransaction(transaction)).rejects.toThrow("is only looked at here");
});

test.each(["foo", '"https://node.example"', "wss://node.example"])(
  "an endpoint's variable that holds no URL to ask is named, and what it holds is not: %s",
  (held) => {
    const network = { rpc: [{ env: "RPC_1" }, { env: "RPC_2" }] };
    const { rpcUrls } = createSecretOpener({ RPC_1: "https://node.example", RPC_2: held }, createRedactor());
    let thrown: unknown;
    try {
      rpcUrls({ network } as unknown as Configuration);
    } catch (error) {
      thrown = error;
    }
    const message =
      "what the environment variable RPC_2 holds is no URL of an RPC endpoint: write https://... or http://...";
    expect(thrown).toMatchObject({ exitCode: 78, message });
  },
);
