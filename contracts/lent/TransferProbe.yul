// SPDX-License-Identifier: MIT
// Moves a token around as swaps do, and writes down what really moved. It never reverts.
// Input, 20 bytes each: token, executor, settlement, wallet, then candidates that may hold the token.
// Output, words: the candidate that holds most, the gas of the first look at a balance (the first candidate's) and of the
// same look once more, then for each move 1 or 0 (the transfer succeeded as SafeERC20 takes it), what was to be moved,
// what left the sender, what arrived, the gas of the transfer. The first move that is not exact is the last one; too
// small a holding makes none.
// The moves, twice, since a rounding token is exact by chance at times: holder to executor, executor to wallet, wallet to
// executor by the settlement's `transferFrom`, executor to holder.
object "TransferProbe" {
  code {
    function balanceOf(token, owner) -> held {
      mstore(0, shl(224, 0x70a08231))
      mstore(4, owner)
      if staticcall(250000, token, 0, 36, 0, 32) {
        if gt(returndatasize(), 31) { held := mload(0) }
      }
    }
    function order(hand, size) -> ok {
      ok := call(1000000, hand, 0, 0, size, 0, 32)
      let answered := returndatasize()
      ok := and(ok, or(iszero(answered), and(gt(answered, 31), eq(mload(0), 1))))
    }
    function prepare(token, selector, first, second, third) {
      mstore(0, shl(96, token))
      mstore(20, shl(224, selector))
      mstore(24, first)
      mstore(56, second)
      mstore(88, third)
    }
    function move(output, token, from, to, spender, amount) -> end {
      let fromBefore := balanceOf(token, from)
      let toBefore := balanceOf(token, to)
      end := add(output, 160)
      let ok
      switch spender
      case 0 {
        prepare(token, 0xa9059cbb, to, amount, 0)
        mstore(add(output, 128), gas())
        ok := order(from, 88)
      }
      default {
        prepare(token, 0x095ea7b3, spender, amount, 0)
        pop(order(from, 88))
        prepare(token, 0x23b872dd, from, to, amount)
        mstore(add(output, 128), gas())
        ok := order(spender, 120)
      }
      mstore(add(output, 128), sub(mload(add(output, 128)), gas()))
      mstore(output, ok)
      mstore(add(output, 32), amount)
      mstore(add(output, 64), sub(fromBefore, balanceOf(token, from)))
      mstore(add(output, 96), sub(balanceOf(token, to), toBefore))
      let exact := and(eq(mload(add(output, 64)), amount), eq(mload(add(output, 96)), amount))
      if iszero(and(ok, exact)) { return(256, sub(end, 256)) }
    }
    function lookGas(token, owner) -> used {
      used := gas()
      pop(balanceOf(token, owner))
      used := sub(used, gas())
    }
    let token := shr(96, calldataload(0))
    mstore(288, lookGas(token, shr(96, calldataload(80))))
    mstore(320, lookGas(token, shr(96, calldataload(80))))
    let holder := 0
    let most := 0
    for { let at := 80 } lt(at, calldatasize()) { at := add(at, 20) } {
      let candidate := shr(96, calldataload(at))
      let held := balanceOf(token, candidate)
      if gt(held, most) {
        holder := candidate
        most := held
      }
    }
    mstore(256, holder)
    if lt(most, 2002) { return(256, 96) }
    let amount := div(most, 1009)
    if lt(amount, 1000) { amount := 1000 }
    let end := 352
    for { let rounds := 2 } rounds { rounds := sub(rounds, 1) } {
      let executor := shr(96, calldataload(20))
      let wallet := shr(96, calldataload(60))
      amount := or(amount, 1)
      end := move(end, token, holder, executor, 0, amount)
      end := move(end, token, executor, wallet, 0, amount)
      end := move(end, token, wallet, executor, shr(96, calldataload(40)), amount)
      end := move(end, token, executor, holder, 0, amount)
      amount := div(amount, 3)
    }
    return(256, sub(end, 256))
  }
}
