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

    /// A view of a contract that answers one word; without a target the account's balance of the native token.
    struct Question {
        address target;
        bytes data;
    }

    /// Many times what a balance or an allowance costs. A token that uses it up is one that does not answer.
    uint256 private constant QUESTION_GAS = 500_000;

    /// What of a reason is shown to people, in bytes; a longer one is cut.
    uint256 private constant LONGEST_REASON = 260;

    /// Input: `Call[]`, `Question[]`. Output: the gas of each call, whether the last one reverted, with its reason, and
    /// then nothing is asked any more; for each look and question two words, 1 and the answer, or 0 and 0 without one.
    fallback(bytes calldata input) external payable returns (bytes memory) {
        if (msg.sender != address(this)) return "";
        (Call[] memory calls, Question[] memory questions) = abi.decode(input, (Call[], Question[]));
        uint256[] memory used = new uint256[](calls.length);
        uint256[] memory seen = new uint256[]((calls.length + 1) * questions.length * 2);
        _look(questions, seen, 0);
        for (uint256 index = 0; index < calls.length; ++index) {
            uint256 before = gasleft();
            bool succeeded = _make(calls[index]);
            used[index] = before - gasleft();
            if (!succeeded) return abi.encode(used, true, _reason(), seen);
            _look(questions, seen, (index + 1) * questions.length * 2);
        }
        return abi.encode(used, false, "", seen);
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

    function _look(Question[] memory questions, uint256[] memory seen, uint256 place) private view {
        for (uint256 index = 0; index < questions.length; ++index) {
            (bool known, uint256 answer) = _ask(questions[index]);
            if (!known) continue;
            seen[place + 2 * index] = 1;
            seen[place + 2 * index + 1] = answer;
        }
    }

    function _ask(Question memory question) private view returns (bool known, uint256 answer) {
        (address target, bytes memory data) = (question.target, question.data);
        if (target == address(0)) return (true, abi.decode(data, (address)).balance);
        assembly {
            known := staticcall(QUESTION_GAS, target, add(data, 32), mload(data), 0, 32)
            known := and(known, gt(returndatasize(), 31))
            if known { answer := mload(0) }
        }
    }
}
