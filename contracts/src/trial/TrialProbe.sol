// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Lent to an account for one `eth_call` of the account to itself: makes the account's calls one after the other, and
/// writes down what its questions answer before the first call and after each. It is on no chain.
/// To everybody else the account answers as one without code does: it takes what comes and returns nothing.
contract TrialProbe {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    /// A question is packed: whom to ask, the selector, whose balance or allowance, and for which spender. Without whom to
    /// ask it is the account's balance of the native token, without a spender it has one argument.
    uint256 private constant QUESTION_SIZE = 64;

    /// Many times what a balance or an allowance costs. A token that uses it up is one that does not answer.
    uint256 private constant QUESTION_GAS = 500_000;

    /// What of a reason is shown to people, in bytes; a longer one is cut.
    uint256 private constant LONGEST_REASON = 260;

    /// What was seen: a word and a flag for each question of each look, one look after the other.
    struct Seen {
        bytes known;
        bytes answers;
    }

    /// Input: `Call[]`, questions. Output: the gas of each call, a word each; whether the last one reverted, with its
    /// reason, and then nothing is asked any more; for each look and question a byte, 1 where there was an answer, and
    /// the answers, a word each.
    fallback(bytes calldata input) external payable returns (bytes memory) {
        if (msg.sender != address(this)) return "";
        (Call[] memory calls, bytes memory questions) = abi.decode(input, (Call[], bytes));
        uint256 count = questions.length / QUESTION_SIZE;
        bytes memory used = new bytes(calls.length * 32);
        Seen memory seen = Seen(new bytes((calls.length + 1) * count), new bytes((calls.length + 1) * count * 32));
        _look(questions, seen, 0);
        for (uint256 index = 0; index < calls.length; ++index) {
            uint256 before = gasleft();
            bool succeeded = _make(calls[index]);
            _write(used, index, before - gasleft());
            if (!succeeded) return abi.encode(used, true, _reason(), seen.known, seen.answers);
            _look(questions, seen, (index + 1) * count);
        }
        return abi.encode(used, false, "", seen.known, seen.answers);
    }

    receive() external payable {}

    /// Nothing of what comes back is copied: a hostile token may return more than there is gas for.
    function _make(Call memory one) private returns (bool succeeded) {
        (address to, uint256 value, bytes memory data) = (one.to, one.value, one.data);
        assembly {
            succeeded := call(gas(), to, value, add(data, 32), mload(data), 0, 0)
        }
    }

    function _reason() private pure returns (bytes memory reason) {
        uint256 size;
        assembly {
            size := returndatasize()
        }
        reason = new bytes(size < LONGEST_REASON ? size : LONGEST_REASON);
        assembly {
            returndatacopy(add(reason, 32), 0, mload(reason))
        }
    }

    function _look(bytes memory questions, Seen memory seen, uint256 place) private view {
        uint256 count = questions.length / QUESTION_SIZE;
        for (uint256 index = 0; index < count; ++index) {
            (bool known, uint256 answer) = _ask(questions, index);
            if (!known) continue;
            seen.known[place + index] = 0x01;
            _write(seen.answers, place + index, answer);
        }
    }

    function _ask(bytes memory questions, uint256 index) private view returns (bool known, uint256 answer) {
        address target;
        address account;
        assembly {
            let question := add(add(questions, 32), mul(index, QUESTION_SIZE))
            target := shr(96, mload(question))
            account := shr(96, mload(add(question, 24)))
            if target {
                let spender := shr(96, mload(add(question, 44)))
                let data := mload(64)
                mstore(data, shl(160, mload(question)))
                mstore(add(data, 4), account)
                mstore(add(data, 36), spender)
                let size := 36
                if spender { size := 68 }
                known := staticcall(QUESTION_GAS, target, data, size, 0, 32)
                known := and(known, gt(returndatasize(), 31))
                if known { answer := mload(0) }
            }
        }
        if (target == address(0)) return (true, account.balance);
    }

    function _write(bytes memory words, uint256 place, uint256 word) private pure {
        assembly {
            mstore(add(add(words, 32), mul(place, 32)), word)
        }
    }
}
