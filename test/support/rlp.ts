/** A value of RLP: bytes or a list. */
export type Rlp = Uint8Array | readonly Rlp[];

/** Recursive length prefix encoding, from its definition, for checks that must not share code with the signer. */
export function encodeRlp(value: Rlp): Uint8Array {
  if (value instanceof Uint8Array) {
    if (value.length === 1 && (value[0] ?? 0) < 0x80) return value;
    return Buffer.concat([prefix(0x80, value.length), value]);
  }
  const body = Buffer.concat((value as readonly Rlp[]).map(encodeRlp));
  return Buffer.concat([prefix(0xc0, body.length), body]);
}

/** An integer without leading zeros; zero is the empty text. */
export function rlpInteger(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}

/** Bytes out of `0x` hex. */
export function rlpBytes(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}

function prefix(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length);
  const bytes = rlpInteger(BigInt(length));
  return Buffer.concat([Uint8Array.of(base + 55 + bytes.length), bytes]);
}
