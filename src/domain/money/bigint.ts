/** The smaller of two amounts. */
export function smaller<Amount extends bigint>(left: Amount, right: Amount): Amount {
  return left < right ? left : right;
}

/** The larger of two amounts. */
export function larger<Amount extends bigint>(left: Amount, right: Amount): Amount {
  return left > right ? left : right;
}
