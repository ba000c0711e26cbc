/** EIP-712 typed data, `types` without EIP712Domain. Numbers in `message` are decimal strings or bigint. */
export interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, unknown>>;
}
