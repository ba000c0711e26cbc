import { userInfo } from "node:os";

/**
 * Who asks, as rows remember it. A container often runs under a number that no account of it has: then it is that number,
 * because a halt must not fail for want of a name.
 */
export function operatorName(account: () => { readonly username: string } = userInfo): string {
  try {
    return account().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
