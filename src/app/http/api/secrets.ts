import { hash, randomBytes, randomInt } from "node:crypto";

/** Letters and digits that nobody mistakes for each other. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const CODE_GROUPS = 3;
const GROUP_LENGTH = 4;

/** A one-time code: 59 random bits in groups, easy to type. */
export function newCode(): string {
  const group = (): string => Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return Array.from({ length: CODE_GROUPS }, group).join("-");
}

/** What a token begins with: it is found by that wherever it leaked to. */
const TOKEN_PREFIX = "swapd_";

/** An API token: 256 random bits. */
export function newToken(): string {
  return `${TOKEN_PREFIX}${randomBytes(32).toString("base64url")}`;
}

/** A login: its page keeps the key, and its cookie ends with the key's hash. Neither leads to the other. */
export function newLogin(): { readonly key: string; readonly cookie: string } {
  const key = newToken();
  return { key, cookie: `${newToken()}${markOfKey(key)}` };
}

/** What the cookie of a page with this key ends with. */
export function markOfKey(key: string): string {
  return hash("sha256", key, "base64url");
}

/** What is stored of a code, a token or a login. They are random and long: no salt and no slow hash is needed. */
export function hashOfSecret(text: string): string {
  return hash("sha256", text);
}

/** A code as it was typed: letters of any case, with or without hyphens and spaces. */
export function hashOfCode(typed: string): string {
  return hashOfSecret(typed.toUpperCase().replaceAll(/[^0-9A-Z]/g, ""));
}
