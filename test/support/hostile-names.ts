/** What a token or a person may call itself. */
export const HOSTILE_NAMES: readonly string[] = [
  ...["$", "usdc", "🚀", "=cmd|'/c calc'!A1", "+1", "-1", "@SUM(A1)", "a,b", 'a"b', "a\nb", "a\r\n2026-01-01 * x"],
  ...["USD", "EUR", "UNKNOWN", "{", "a;b", "  x", "123", "", "ＵＳＤＣ", "A".repeat(300), "\u202eCDSU", "ETH"],
  ...["T", "TRUE", "NULL", "or", "h"],
];
