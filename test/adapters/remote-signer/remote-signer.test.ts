import { computeAddress, SigningKey, Transaction, type TransactionLike } from "ethers";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createRemoteSigner, type RemoteSignerOptions } from "../../../src/adapters/remote-signer/remote-signer.ts";
import type { TypedData } from "../../../src/domain/guard/typed-data.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { SigningError } from "../../../src/domain/signing-error.ts";
import { boundedFetch } from "../../../src/net/bounded-fetch.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { UnsignedTransaction } from "../../../src/ports/signer.ts";
import {
  type Misbehaviour,
  type SignerDouble,
  type SignerDoubleOptions,
  startSignerDouble,
} from "../../support/signer-double/signer-double.ts";
import { typedDataDigest } from "../../support/typed-data-digest.ts";

const KEY = `0x${"7".repeat(64)}`;
const OTHER_KEY = `0x${"8".repeat(64)}`;
const ACCOUNT = toAddress(computeAddress(KEY));
const TO = toAddress(`0x${"ab".repeat(20)}`);
const CHAIN_ID = 8_453;

const TRANSACTION: UnsignedTransaction = {
  ...{ chainId: CHAIN_ID, nonce: 7, to: TO, data: "0xa9059cbb01", value: 5n, gasLimit: 90_000n },
  ...{ maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n },
};

const TYPED_DATA: TypedData = {
  domain: { name: "USD Coin", version: "2", chainId: CHAIN_ID, verifyingContract: TO },
  types: {
    Permit: [
      { name: "owner", type: "address" },
      { name: "spender", type: "address" },
      { name: "value", type: "uint256" },
      { name: "nonce", type: "uint256" },
      { name: "deadline", type: "uint256" },
    ],
  },
  primaryType: "Permit",
  message: { owner: ACCOUNT, spender: TO, value: (2n ** 200n).toString(), nonce: "3", deadline: "1800000000" },
};

async function startDouble(options: Partial<SignerDoubleOptions> = {}): Promise<SignerDouble> {
  const double = await startSignerDouble({ chainId: CHAIN_ID, keys: [OTHER_KEY, KEY], ...options });
  onTestFinished(double.stop);
  return double;
}

function signerAt(url: string, options: Partial<RemoteSignerOptions> = {}) {
  const heard: (SigningError | undefined)[] = [];
  const deps = { clock: systemClock, fetch: boundedFetch, hears: (one: SigningError | undefined) => heard.push(one) };
  const signer = createRemoteSigner({ url, address: ACCOUNT, token: undefined, timeoutMs: 2_000, ...options }, deps);
  return { signer, heard };
}

/** What it is refused with. @throws when something was signed */
async function refusal(work: Promise<unknown>): Promise<SigningError> {
  const error = await work.then(
    (signed) => new Error(`it was taken: ${JSON.stringify(signed)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof SigningError) return error;
  throw error;
}

async function refusalOf(misbehave: Misbehaviour, options: Partial<SignerDoubleOptions> = {}): Promise<SigningError> {
  const double = await startDouble(options);
  double.misbehave = misbehave;
  return await refusal(signerAt(double.url).signer.signTransaction(TRANSACTION));
}

describe("a signer elsewhere", () => {
  it("signs exactly what it is asked for", async () => {
    const double = await startDouble();
    const { raw, hash } = await signerAt(double.url).signer.signTransaction(TRANSACTION);
    const signed = Transaction.from(raw);
    expect(signed.hash).toBe(hash);
    expect(signed.from?.toLowerCase()).toBe(ACCOUNT);
    expect(signed).toMatchObject({ chainId: BigInt(CHAIN_ID), nonce: 7, value: 5n, data: TRANSACTION.data, type: 2 });
    expect(double.asked.map(({ method }) => method)).toEqual(["eth_signTransaction"]);
  });

  it("signs typed data whose digest we computed ourselves", async () => {
    const double = await startDouble();
    const signature = await signerAt(double.url).signer.signTypedData(TYPED_DATA);
    const by = computeAddress(SigningKey.recoverPublicKey(typedDataDigest(TYPED_DATA), signature));
    expect(toAddress(by)).toBe(ACCOUNT);
    expect(double.asked.map(({ method, params }) => [method, params[0]])).toEqual([["eth_signTypedData", ACCOUNT]]);
    // An object is what web3signer before 25.9.0 fails with.
    expect(double.asked[0]?.params[1]).toBeTypeOf("string");
  });

  it("may give two signatures of one content, each of the account", async () => {
    const double = await startDouble({ isDeterministic: false });
    const [one, two] = [signerAt(double.url).signer, signerAt(double.url).signer];
    expect((await one.signTransaction(TRANSACTION)).hash).not.toBe((await two.signTransaction(TRANSACTION)).hash);
    expect(await one.signTypedData(TYPED_DATA)).not.toBe(await two.signTypedData(TYPED_DATA));
  });

  it("shows its token in a header, and in no error", async () => {
    const double = await startDouble();
    double.misbehave = { answer: () => ({ status: 401, body: "no, not hush-hush" }) };
    const { signer } = signerAt(double.url, { token: new Secret("hush-hush") });
    const { code, message } = await refusal(signer.signTransaction(TRANSACTION));
    expect(code).toBe("refused");
    expect(message).toContain("answered 401");
    expect(message).not.toContain("hush");
    expect(double.asked[0]?.headers.authorization).toBe("Bearer hush-hush");
  });
});

/** Each field of a transaction with another value. */
const CHANGES: Readonly<Record<string, Partial<TransactionLike<string>>>> = {
  chainId: { chainId: 1 },
  nonce: { nonce: 8 },
  to: { to: `0x${"cd".repeat(20)}` },
  value: { value: 6n },
  data: { data: "0xa9059cbb02" },
  gas: { gasLimit: 90_001n },
  maxFeePerGas: { maxFeePerGas: 31n * 10n ** 9n },
  maxPriorityFeePerGas: { maxPriorityFeePerGas: 2n * 10n ** 9n },
  accessList: { accessList: [{ address: TO, storageKeys: [] }] },
};

describe("an answer that is not what was asked", () => {
  it.each(Object.entries(CHANGES))("is refused where %s is another one", async (name, change) => {
    const error = await refusalOf({ alter: (asked) => ({ ...asked, ...change }) });
    expect(error.code).toBe("different");
    expect(error.message).toMatch(new RegExp(`${name} is .*, asked was`));
  });

  const PLAIN = { gasPrice: 30n * 10n ** 9n, maxFeePerGas: null, maxPriorityFeePerGas: null };
  it.each<[string, Partial<TransactionLike<string>>]>([
    ["a legacy one", { type: 0, ...PLAIN }],
    ["one with an access list", { type: 1, ...PLAIN }],
    ["one that creates a contract", { to: null }],
  ])("is refused where the transaction is %s", async (_, change) => {
    expect((await refusalOf({ alter: (asked) => ({ ...asked, ...change }) })).code).toBe("different");
  });

  it("is refused for another chain, which a signer has from its own start", async () => {
    expect((await refusalOf({}, { chainId: 1 })).message).toContain("chainId is 1, asked was 8453");
  });

  it("is refused with the signature of another account, or one with a high s", async () => {
    expect((await refusalOf({ key: OTHER_KEY })).message).toContain("not by");
    expect((await refusalOf({ highS: true })).message).toContain("high s");
    for (const misbehave of [{ key: OTHER_KEY }, { highS: true }]) {
      const double = await startDouble();
      double.misbehave = misbehave;
      expect((await refusal(signerAt(double.url).signer.signTypedData(TYPED_DATA))).code).toBe("different");
    }
  });

  it("is never accepted, whichever fields and bytes are changed", async () => {
    const double = await startDouble({ isDeterministic: false });
    let accepted = 0;
    const change = fc.record(
      {
        chainId: fc.integer({ min: 1, max: 99_999 }),
        nonce: fc.nat(20),
        to: fc.constantFrom(TO, ACCOUNT, `0x${"cd".repeat(20)}`),
        value: fc.bigInt(0n, 10n),
        data: fc.constantFrom("0x", TRANSACTION.data, "0xa9059cbb"),
        gasLimit: fc.bigInt(89_990n, 90_010n),
        maxFeePerGas: fc.constantFrom(TRANSACTION.maxFeePerGas, 2n ** 70n),
        maxPriorityFeePerGas: fc.constantFrom(TRANSACTION.maxPriorityFeePerGas, 0n),
      },
      { requiredKeys: [] },
    );
    const flip = fc.option(fc.record({ at: fc.nat(400), to: fc.constantFrom("0", "1", "8", "f", "") }));
    await fc.assert(
      fc.asyncProperty(change, flip, async (altered, flipped) => {
        const own = (body: string): string => {
          if (flipped === null) return body;
          const read = JSON.parse(body) as { result: string };
          const at = 2 + (flipped.at % (read.result.length - 2));
          return JSON.stringify({ ...read, result: read.result.slice(0, at) + flipped.to + read.result.slice(at + 1) });
        };
        double.misbehave = {
          alter: (asked) => ({ ...asked, ...altered }),
          answer: (_, answer) => ({ ...answer, body: own(answer.body) }),
        };
        const { signer } = signerAt(double.url);
        const signed = await signer.signTransaction(TRANSACTION).catch((error: unknown) => {
          if (error instanceof SigningError) return undefined;
          throw error;
        });
        if (signed === undefined) return;
        accepted += 1;
        const transaction = Transaction.from(signed.raw);
        const { from, chainId, nonce, to, value, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = transaction;
        expect(from?.toLowerCase()).toBe(ACCOUNT);
        expect(transaction.accessList).toEqual([]);
        const read = { chainId: Number(chainId), nonce, to: to?.toLowerCase(), value, data, gasLimit };
        expect({ ...read, maxFeePerGas, maxPriorityFeePerGas }).toEqual(TRANSACTION);
      }),
      { numRuns: 200, examples: [[{}, null]] },
    );
    expect(accepted, "what was not changed is taken").toBeGreaterThan(0);
  });
});

describe("a signer that gives no proper answer", () => {
  it.each([
    ["garbage", { status: 200, body: "<html>hello</html>" }],
    ["nothing", { status: 200, body: "" }],
    ["a result of nothing", { status: 200, body: '{"jsonrpc":"2.0","id":1}' }],
    ["an answer to another question", { status: 200, body: '{"jsonrpc":"2.0","id":99,"result":"0x00"}' }],
    ["more than is read", { status: 200, body: "x".repeat(1_100_000) }],
    ["a redirect", { status: 307, body: "", headers: { location: "http://127.0.0.1:1/" } }],
    ["a failure", { status: 503, body: "busy" }],
  ])("counts as away when it answers %s", async (_, answer) => {
    expect((await refusalOf({ answer: () => answer })).code).toBe("away");
  });

  it("refuses with an error of JSON-RPC, which is told with its code", async () => {
    const double = await startDouble({ keys: [OTHER_KEY] });
    const { code, message } = await refusal(signerAt(double.url).signer.signTransaction(TRANSACTION));
    expect(code).toBe("refused");
    expect(message).toContain("No unlocked account matches the Sender (-32000)");
  });

  it("is away where nothing listens", async () => {
    const double = await startDouble();
    await double.stop();
    expect((await refusal(signerAt(double.url).signer.signTransaction(TRANSACTION))).code).toBe("away");
  });
});

describe("a signer that takes its time", () => {
  it("keeps nobody, and its late answer is there for who asks again, without a second question", async () => {
    const double = await startDouble({ isDeterministic: false });
    const gate = Promise.withResolvers<void>();
    double.misbehave = { before: () => gate.promise };
    const { signer, heard } = signerAt(double.url, { timeoutMs: 20_000 });
    const beganMs = Date.now();
    expect((await refusal(signer.signTransaction(TRANSACTION))).code).toBe("pending");
    expect(Date.now() - beganMs).toBeLessThan(3_000);
    gate.resolve();
    const { hash } = await signer.signTransaction(TRANSACTION);
    expect(double.asked).toHaveLength(1);
    expect((await signer.signTransaction(TRANSACTION)).hash).toBe(hash);
    expect(double.asked).toHaveLength(1);
    expect(heard).toEqual([undefined]);
  });

  it("is given up in time, rests, and is asked again after that", async () => {
    const double = await startDouble();
    double.misbehave = { before: () => new Promise(() => undefined) };
    const { signer, heard } = signerAt(double.url, { timeoutMs: 300 });
    expect((await refusal(signer.signTransaction(TRANSACTION))).code).toBe("away");
    double.misbehave = {};
    expect((await refusal(signer.signTransaction(TRANSACTION))).code).toBe("held back");
    expect(double.asked).toHaveLength(1);
    await systemClock.sleep(1_100);
    expect((await signer.signTransaction(TRANSACTION)).hash).toMatch(/^0x/);
    expect(heard.map((one) => one?.code)).toEqual(["away", undefined]);
  });
});

describe("whether a signer can sign", () => {
  it("is asked without a signature, and tried with what is worth nothing", async () => {
    const double = await startDouble();
    const { signer } = signerAt(double.url);
    expect(await signer.whyUnable()).toBeUndefined();
    expect(double.asked.map(({ method }) => method)).toEqual(["eth_accounts"]);
    expect(await signer.tryOut(CHAIN_ID)).toBeUndefined();
    const [, , asked] = double.asked;
    expect(asked?.params[0]).toMatchObject({ gas: "0x0", value: "0x0", maxFeePerGas: "0x0", to: ACCOUNT, data: "0x" });
    expect((await signer.tryOut(1))?.message).toContain(`chainId is ${CHAIN_ID}, asked was 1`);
  });

  it("is no where it lists other accounts, or none", async () => {
    const double = await startDouble({ keys: [OTHER_KEY] });
    expect((await signerAt(double.url).signer.whyUnable())?.message).toContain("has 1 keys, and none of");
    const empty = await startDouble({ keys: [] });
    expect((await signerAt(empty.url).signer.whyUnable())?.code).toBe("refused");
  });
});
