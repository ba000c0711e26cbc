import { z } from "zod";
import { pageOf, shape } from "./shape.ts";
import { address, basisPoints, dollars, instant, money, token, whole } from "./values.ts";

const ability = z.enum(["able", "lacking", "unknown"]);

const endpoint = shape("Endpoint", "An RPC endpoint, by the name of its host.", {
  host: z.string(),
  abilities: z.record(z.string(), ability).meta({ description: "empty: it was not asked yet" }),
});

export const services = shape("Services", "What the daemon asks outside.", {
  service: shape("Service", "The swap service.", {
    profile: z.string(),
    host: z.string().meta({ description: "embedded, or the name of its host" }),
    ready: z.boolean(),
    reason: z.string().nullable(),
    since: instant.nullable(),
    spender: address.nullable(),
    target: address.nullable(),
    further: z
      .array(z.strictObject({ spender: address, target: address }))
      .meta({ description: "contracts besides these, of which a quote may name any: further public routers" }),
  }),
  fills: z.int().meta({ description: "so many of the newest fills were compared" }),
  againstQuote: z
    .strictObject({ median: basisPoints, worst: basisPoints, best: basisPoints })
    .nullable()
    .meta({ description: "received against quoted" }),
  endpoints: z.array(endpoint),
  submit: z
    .array(z.string())
    .meta({ description: "hosts that transactions are sent to privately; empty: the endpoints" }),
});

const wallet = shape("Wallet", "A wallet, by the rows and the configuration.", {
  name: z.string(),
  address,
  kind: z.enum(["key", "paper", "safe", "watched"]),
  delegate: address.nullable(),
  signer: z
    .string()
    .nullable()
    .meta({ description: "host that signs for it; null: swapd has its key, or nobody signs" }),
  halted: z.string().nullable().meta({ description: "why it signs nothing" }),
  balances: z.array(money),
  unread: z.array(z.string()).meta({ description: "tokens of which it is not known what it has" }),
  block: z.int().nullable().meta({ description: "at which the balances were read" }),
  fillsTo: z.int().nullable().meta({ description: "of the newest own fill since, which they count; null: none" }),
  gas: money.nullable().meta({ description: "native coin that it has now; null: the chain did not answer" }),
  gasReserve: money.meta({ description: "native coin that is left to it" }),
  strategies: z.array(z.string()),
});

export const walletList = shape("WalletList", "The wallets.", { wallets: z.array(wallet) });

const allowance = shape("Allowance", "What a contract may take of a wallet, on the chain now.", {
  wallet: z.string(),
  token,
  spender: address,
  amount: money,
  isUnlimited: z.boolean(),
  usd: dollars.nullable(),
  swap: z.string().nullable().meta({ description: "that may still use it" }),
});

const unreadAllowance = shape("UnreadAllowance", "One that its token refuses to tell: it may be any amount.", {
  wallet: z.string(),
  token,
  spender: address,
  reason: z.string(),
});

export const allowanceList = shape("AllowanceList", "Allowances as the chain has them.", {
  readAt: instant,
  allowances: z.array(allowance),
  unread: z.array(unreadAllowance).meta({ description: "of what could not be read, so that nobody knows it" }),
});

const attempt = shape("Attempt", "A signed version of a transaction.", {
  hash: z.string(),
  kind: z.string(),
  visibility: z.string(),
  state: z.string(),
  maxFeePerGas: whole.meta({ description: "wei" }),
  maxPriorityFeePerGas: whole.meta({ description: "wei" }),
  signedAt: instant,
});

const transaction = shape("Transaction", "A transaction of a wallet.", {
  id: z.string(),
  account: address,
  purpose: z.string(),
  state: z.string(),
  outcome: z.string().nullable(),
  nonce: z.int().nullable(),
  to: address,
  value: whole,
  createdAt: instant,
  block: z.int().nullable(),
  cancelledBy: z.string().nullable(),
  attempts: z.array(attempt),
});

export const transactionList = shape("TransactionList", "Transactions: all open ones, and the newest of the others.", {
  transactions: z.array(transaction),
});

const alert = shape("Alert", "An alert or a message, open or past.", {
  number: z.int(),
  severity: z.enum(["info", "warning", "critical"]),
  code: z.string(),
  subject: z.string(),
  text: z.string(),
  strategy: z.string().nullable(),
  run: z.string().nullable(),
  at: instant,
  over: instant.nullable(),
});

export const alertPage = pageOf("AlertPage", "Alerts, newest first.", alert);

const proposal = shape("Proposal", "What the owners of a Safe are asked for.", {
  swap: z.string(),
  run: z.string(),
  strategy: z.string(),
  safe: address,
  nonce: whole,
  hash: z.string().nullable().meta({ description: "that the owners sign" }),
  state: z.string(),
  deadline: instant.nullable(),
});

export const proposalList = shape("ProposalList", "Proposals that are open.", { proposals: z.array(proposal) });

const finding = shape("AuditFinding", "Something that database and chain do not agree on.", {
  code: z.string(),
  subject: z.string().meta({ description: "a swap, a run, a wallet and token" }),
  message: z.string(),
});

const auditResult = shape("AuditResult", "What an audit found.", {
  at: instant,
  by: z.string(),
  clean: z.boolean(),
  differences: z.int(),
  findings: z.array(finding).meta({ description: "the first of the differences" }),
  fromBlock: z
    .int()
    .nullable()
    .meta({ description: "where it was asked to begin; null with `from`: at the beginning" }),
  from: instant.nullable(),
  toBlock: z.int(),
  text: z.string().meta({ description: "how much it looked at" }),
});

export const audit = shape("Audit", "What was found by the audits that people made with `swapd audit`.", {
  last: auditResult.nullable().meta({ description: "null: none was made" }),
  whole: auditResult.nullable().meta({ description: "the last one that looked at everything" }),
  recent: z.array(auditResult).meta({ description: "the newest ones, the last one first" }),
});
