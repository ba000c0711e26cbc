import { type Hex, toAddress } from "../../domain/money/address.ts";

/** Addresses that nobody has a key or a contract for: their names in ASCII. Code is lent to them for one `eth_call`. */
export const PROBE_ADDRESS = toAddress("0x7377617064207472616e736665722070726f6265");
export const POOL_CODE_ADDRESS = toAddress("0x7377617064207265616c20706f6f6c20636f6465");

/**
 * Moves a token around as swaps do, and writes down what really moved. It never reverts. In Yul for the "paris" rules,
 * so that older networks run it too (a test compiles it again and compares).
 * Input, 20 bytes each: token, executor, settlement, wallet, then candidates that may hold the token.
 * Output, words: the candidate that holds most, the gas of the first look at a balance (the first candidate's) and of the
 * same look once more, then for each move 1 or 0 (the transfer succeeded as SafeERC20 takes it),
 * what was to be moved, what left the sender, what arrived, the gas of the transfer. The first move that is not exact is
 * the last one; too small a holding makes none.
 * The moves, twice, since a rounding token is exact by chance at times: holder to executor, executor to wallet, wallet to
 * executor by the settlement's `transferFrom`, executor to holder.
 */
export const PROBE_SOURCE = `object "TransferProbe" {
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
}`;

/**
 * Stands where a pool, the contracts and a wallet are: does what the probe tells (20 bytes target, then the calldata),
 * and lets everybody else meet the pool's real code, where that was lent.
 */
export const HAND_SOURCE = `object "Hand" {
  code {
    let ok
    switch caller()
    case ${PROBE_ADDRESS} {
      let size := sub(calldatasize(), 20)
      calldatacopy(0, 20, size)
      ok := call(gas(), shr(96, calldataload(0)), 0, 0, size, 0, 0)
    }
    default {
      calldatacopy(0, 0, calldatasize())
      ok := delegatecall(gas(), ${POOL_CODE_ADDRESS}, 0, calldatasize(), 0, 0)
    }
    returndatacopy(0, 0, returndatasize())
    if ok { return(0, returndatasize()) }
    revert(0, returndatasize())
  }
}`;

/** {@link PROBE_SOURCE} compiled. */
export const PROBE_CODE: Hex =
  "0x60003560601c61002260503560601c6100188184610322565b6101205282610322565b6101405260008060505b3681106100f6575081610100526107d281106100ef576103f190046103e881106100e6575b9061016092600290815b6100695760ff198501610100f35b9091929360016100d66003928683891791866100cc60143560601c928c8881179160283560601c91856100d18960143560601c94603c3560601c948f6100cc8691831794603c3560601c94600160143560601c9517918460143560601c9261019b565b61019b565b610239565b951704929160001901908161005b565b506103e8610051565b6060610100f35b803560601c6101058186610124565b90838211610118575b505060140161002c565b9350915060143861010e565b6000602481602093600096956370a0823160e01b83526004526203d090fa61014857565b601f3d1161015257565b6000519150565b600060588180602094620f4240f13d600160005114601f8211169015171690565b600060788180602094620f4240f13d600160005114601f8211169015171690565b929493806101a98484610124565b9661021b6101b78286610124565b9160a08801996101e185838960601b60005263a9059cbb60e01b6014526018526038526000605852565b61020c5a9860808b01998a526101f681610159565b995a8151039052898b528660208c015288610124565b90039560408901968752610124565b03806060870152149151141616156102305750565b605f1901610100f35b9395948091929361021b61024d8686610124565b916102588187610124565b9260a089019a806000146102e5576102c9816102918861020c948c60601b60005263095ea7b360e01b6014526018526038526000605852565b61029a8b610159565b506102be88868d8d60601b6000526323b872dd60e01b601452601852603852605852565b5a60808d015261017a565b985b5a60808c01908151039052898b528660208c015288610124565b5061030a85838960601b60005263a9059cbb60e01b6014526018526038526000605852565b5a60808a015261020c61031c89610159565b986102cb565b9061032e905a92610124565b505a90039056";

/** {@link HAND_SOURCE} compiled. */
export const HAND_CODE: Hex =
  "0x600033737377617064207472616e736665722070726f6265146050575036600080376000803681737377617064207265616c20706f6f6c20636f64655af45b3d6000803e604b573d6000fd5b3d6000f35b80366013190180601483378180803560601c5af1603e56";
