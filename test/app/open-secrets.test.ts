import { expect, test } from "vitest";
import { createSecretOpener, withoutSignatures } from "../../src/app/open-secrets.ts";
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
