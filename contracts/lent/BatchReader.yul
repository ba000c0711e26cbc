// SPDX-License-Identifier: MIT
// Performs packed calls and packs their answers; needs no deployed contract.
// Input: entries of 20 bytes target, 1 byte calldata size, 1 byte number of answer words, the calldata.
// Output: 3 words that tell the block it ran at, then for each entry 1 word success (reverts and short answers are 0)
// and the answer words.
object "BatchReader" {
  code {
    mstore(0, number())
    mstore(32, blockhash(sub(number(), 1)))
    mstore(64, timestamp())
    let input := 0
    let output := 96
    for {} lt(input, calldatasize()) {} {
      let header := shr(80, calldataload(input))
      let answerSize := shl(5, and(header, 0xff))
      let dataSize := and(shr(8, header), 0xff)
      let answer := add(output, 32)
      let scratch := add(answer, answerSize)
      calldatacopy(scratch, add(input, 22), dataSize)
      let ok := staticcall(1000000, shr(16, header), scratch, dataSize, answer, answerSize)
      ok := and(ok, iszero(lt(returndatasize(), answerSize)))
      if iszero(ok) { calldatacopy(answer, calldatasize(), answerSize) }
      mstore(output, ok)
      output := scratch
      input := add(input, add(22, dataSize))
    }
    return(0, output)
  }
}
