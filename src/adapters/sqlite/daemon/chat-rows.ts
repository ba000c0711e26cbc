import type { Statements } from "../statements.ts";
import type { RowStore } from "./row-store.ts";

/** Rows of what was heard by chat. */
export function createChatRows(sql: Statements): Pick<RowStore, "chatOffset" | "saveChatOffset"> {
  return {
    chatOffset: (bot) =>
      sql.get<{ nextUpdate: number; atMs: number }>(
        "SELECT next_update AS nextUpdate, at_ms AS atMs FROM chat_offsets WHERE bot = ?",
        bot,
      ),
    saveChatOffset: (bot, { nextUpdate, atMs }) => {
      sql.run(
        `INSERT INTO chat_offsets (bot, next_update, at_ms) VALUES (?, ?, ?)
         ON CONFLICT (bot) DO UPDATE SET next_update = excluded.next_update, at_ms = excluded.at_ms`,
        bot,
        nextUpdate,
        atMs,
      );
    },
  };
}
