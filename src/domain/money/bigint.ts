/** The smaller of two amounts. */
export function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

/** The larger of two amounts. */
export function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
