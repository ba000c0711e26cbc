import { existsSync } from "node:fs";
import { getAddress } from "ethers";
import { parseAddress } from "../../domain/money/address.ts";
import { formatUnits, parseUnits } from "../../domain/money/amount.ts";
import { inShell } from "../in-shell.ts";
import {
  type KeyAnswer,
  NONE,
  paperAnswer,
  pathIn,
  readSold,
  readWallet,
  type TokenAmount,
  WALLET_FILES,
} from "./answers.ts";
import { answerOf, type Question } from "./question.ts";
import { decimalsOf, draftAnswers, networkOf, problemWith, type Session, type Verdict, withDraft } from "./session.ts";
import { judgeSigner } from "./signer-answer.ts";
import { shown } from "./where-questions.ts";

/** Without a budget a wallet on paper begins with so many slots. */
const PAPER_SLOTS = 50n;

export const wallet: Question = {
  asks: () =>
    "wallet: paper AMOUNT TOKEN, 0x... to watch an account, or with a key: new, keystore FILE, import FILE, signer URL",
  explains:
    'On paper nothing is signed and no coins are needed: it begins with what you say, for example "paper 5000 USDC", or with\n' +
    "what an account holds whose address you give. To trade for real it needs a key, of a wallet that nothing else uses: new\n" +
    "makes an encrypted keystore with a password of its own, import takes a file with a private key or a mnemonic, keystore\n" +
    "a file that you have (its password in a file beside it, .pass instead of .json). Where the key is with a web3signer:\n" +
    "signer http://127.0.0.1:9000, followed by its address where it has several. Run init again for that later.",
  fallback: (session) => {
    const { present, folder } = session;
    if (present?.answers.wallet !== undefined) return present.answers.wallet;
    const isThere = existsSync(pathIn(folder, WALLET_FILES.keystore));
    return isThere ? `keystore ${WALLET_FILES.keystore}` : paperAnswer(suggested(session));
  },
  judge: async (session, answer) => {
    const read = readWallet(answer);
    if (read === undefined) {
      const known = "paper AMOUNT TOKEN, an address, new, keystore FILE, import FILE, signer URL";
      return { problem: `${JSON.stringify(shown(answer))} is none of: ${known}` };
    }
    const isKeyless = read.kind === "watch" || read.kind === "paper";
    if (isKeyless && session.present?.configuration.mode === "live") {
      const what = read.kind === "watch" ? "for an account that is watched" : "on paper";
      return { problem: `this configuration is live, and nothing can be signed ${what}` };
    }
    if (read.kind === "signer") return await judgeSigner(session, read);
    if (read.kind === "watch") return await judgeWatched(session, answer.trim());
    return read.kind === "paper" ? await judgePaper(session, read.amounts) : judgeKey(session, read, answer.trim());
  },
};

/** The whole budget where there is one. */
function suggested(session: Session): readonly TokenAmount[] {
  const { total, sell } = draftAnswers(session);
  const sold = readSold(total === NONE ? sell : total);
  if (sold === undefined) return [];
  const decimals = decimalsOf(session, sold.token);
  const raw = parseUnits(sold.amount, decimals);
  if (typeof raw !== "bigint" || total !== NONE) return [sold];
  return [{ amount: formatUnits(raw * PAPER_SLOTS, decimals), token: sold.token }];
}

function judgeKey(session: Session, read: KeyAnswer, answer: string): Verdict {
  const file = read.kind === "import" ? read.keyFile : read.keystore;
  const path = pathIn(session.folder, file);
  const isThere = existsSync(path);
  if (read.kind === "keystore" && read.isNew && isThere) {
    return {
      problem: `${path} is there already and may be the only copy of a key: answer keystore ${file} to use it`,
    };
  }
  const own = pathIn(session.folder, WALLET_FILES.keystore);
  if (read.kind === "import" && isThere && existsSync(own)) {
    const imports = `swapd wallet import --keystore OTHER.json --password-file OTHER.pass --key-file ${inShell(path)}`;
    return {
      problem: `${own} is there already and may be the only copy of a key: write a password to OTHER.pass, then: ${imports}, and answer keystore OTHER.json`,
    };
  }
  const isWanted = read.kind === "import" || !read.isNew;
  if (isWanted && !isThere) return { problem: `there is no file ${path}: name one that is there, or answer new` };
  return { value: answer, says: [] };
}

async function judgeWatched(session: Session, answer: string): Promise<Verdict> {
  return await withDraft(session, { wallet: answer }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith("wallet", answers, loaded);
    const address = parseAddress(answer);
    // A key that is missing is no complaint of an answer that is meant as an address.
    if (problem !== undefined) return { problem: problem.split("\n").at(-1) ?? problem };
    if (address === undefined)
      return { problem: `${JSON.stringify(answer)} is no address: 0x and 40 hexadecimal digits` };
    return {
      value: answer,
      says: [`${getAddress(address)} is watched on ${answerOf(session, "network")}: nothing is signed for it`],
    };
  });
}

async function judgePaper(session: Session, amounts: readonly TokenAmount[]): Promise<Verdict> {
  const answer = paperAnswer(amounts);
  // What is in the file already may name tokens that were added to it by hand.
  if (answer === session.present?.answers.wallet) return { value: answer, says: [] };
  const tokens = amounts.map(({ token }) => token);
  const { nativeSymbol, tokens: book } = networkOf(session) ?? { nativeSymbol: "", tokens: new Map() };
  const unknown = tokens.find((token) => token !== nativeSymbol && !book.has(token));
  if (unknown !== undefined) return { problem: `the network's book has no token ${JSON.stringify(unknown)}` };
  if (new Set(tokens).size < tokens.length) return { problem: "name each token once" };
  return await withDraft(session, { wallet: answer }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith("wallet", answers, loaded);
    if (problem !== undefined) return { problem };
    const sold = readSold(answerOf(session, "sell"))?.token;
    const says = ["nothing is signed on paper, and it needs no coins; gas is counted"];
    if (sold === undefined || tokens.includes(sold)) return { value: answer, says };
    return { value: answer, says: [...says, `warning: ${sold} is sold, and it begins with none`] };
  });
}
