import { id } from "ethers";

/** A file that the Transaction Builder of Safe's web interface takes. Key order is none of its concern. */
export interface BatchFile {
  readonly version: string;
  readonly chainId: string;
  /** Unix milliseconds */
  readonly createdAt: number;
  readonly meta: {
    readonly name: string;
    readonly description: string;
    readonly txBuilderVersion: string;
    readonly createdFromSafeAddress: string;
    readonly createdFromOwnerAddress: string;
    readonly checksum?: string;
  };
  readonly transactions: readonly Readonly<Record<string, unknown>>[];
}

/** The builder warns of a file whose checksum is another one. The name, which people change, does not count. */
export function checksumOf(file: BatchFile): string {
  const { checksum, ...meta } = file.meta;
  return id(inOrder({ ...file, meta: { ...meta, name: null } }));
}

/** The builder's own way to write a value down: keys first, sorted, then each value with a comma behind it. */
function inOrder(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOrder).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${JSON.stringify(entries.map(([key]) => key))}${entries.map(([, part]) => `${inOrder(part)},`).join("")}}`;
}
