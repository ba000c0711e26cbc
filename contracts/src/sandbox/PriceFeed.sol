// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A price feed with Chainlink's AggregatorV3Interface whose owner, the deployer, sets the price.
contract PriceFeed {
    struct Round {
        int256 answer;
        uint256 updatedAt; // seconds
    }

    uint8 public immutable decimals;
    uint256 public constant version = 1;
    address public immutable owner = msg.sender;
    string public description;
    uint80 private _latestRound;
    mapping(uint80 roundId => Round) private _rounds;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NotOwner(address caller);
    error NoDataPresent(uint80 roundId);

    constructor(uint8 decimals_, string memory description_, int256 initial) {
        decimals = decimals_;
        description = description_;
        _set(initial);
    }

    function set(int256 answer) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _set(answer);
    }

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        return getRoundData(_latestRound);
    }

    function getRoundData(uint80 id)
        public
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round storage round = _rounds[id];
        if (round.updatedAt == 0) revert NoDataPresent(id);
        return (id, round.answer, round.updatedAt, round.updatedAt, id);
    }

    function _set(int256 answer) private {
        _latestRound += 1;
        _rounds[_latestRound] = Round({answer: answer, updatedAt: block.timestamp});
        emit AnswerUpdated(answer, _latestRound, block.timestamp);
    }
}
