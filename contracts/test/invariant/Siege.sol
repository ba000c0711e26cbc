// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Actions} from "./Actions.sol";
import {Arena} from "./Arena.sol";
import {LyingPermitToken} from "./HostileFixtures.sol";

/// The promises of the contracts, each as a question to the ledger and to the chain.
contract Siege is Actions {
    constructor(uint256 salt) Arena(salt) {}

    /// No token leaves a user beyond the gross amount of an order that the user signed or sent.
    function checkUsers() public view {
        assertEq(overspent, 0, "a swap took more than its gross amount, or of another token");
        for (uint256 u = 0; u < USERS; ++u) {
            for (uint256 t = 0; t < TOKENS; ++t) {
                assertTrue(IERC20(tokens[t]).balanceOf(users[u]) >= floors[u][t], "a user's tokens are where they were");
            }
            assertTrue(users[u].balance >= floors[u][TOKENS], "a user's native tokens are where they were");
        }
    }

    /// Between transactions there is nothing in the contracts but what somebody sent there without being asked.
    function checkCustody() public view {
        for (uint256 t = 0; t < TOKENS; ++t) {
            IERC20 token = IERC20(tokens[t]);
            assertEq(token.balanceOf(address(executor)), inExecutor[t], "the executor holds donations only");
            assertEq(token.balanceOf(address(settlement)), inSettlement[t], "the settlement holds donations only");
            assertEq(token.balanceOf(address(twin)), 0, "the twin holds nothing");
        }
        uint256 native = address(executor).balance + address(settlement).balance + address(twin).balance;
        assertEq(native, 0, "no native tokens");
    }

    /// Every recipient got the signed minimum, after all fees and taxes, and each owner sold what the event says.
    function checkMinimum() public view {
        assertEq(belowMinimum, 0, "less than the minimum");
        assertEq(misreported, 0, "another amount than reported");
        assertEq(missold, 0, "another amount sold than reported");
    }

    function checkOnce() public view {
        assertEq(replays, 0, "a signature worked twice");
        for (uint256 i = 0; i < book.length; ++i) {
            bool used = settlement.isNonceUsed(users[book[i].user], book[i].order.nonce);
            assertTrue(used == (book[i].filled || book[i].cancelled), "a nonce is used by its fill or its cancellation");
        }
    }

    function checkCancelled() public view {
        assertEq(afterCancel, 0, "a cancelled order was filled");
    }

    /// Copiers and front-runners get nothing out of an order that names somebody else.
    function checkSender() public view {
        assertEq(byStrangers, 0, "a stranger submitted an order");
        for (uint256 t = 0; t < TOKENS; ++t) {
            uint256 loot = IERC20(tokens[t]).balanceOf(copier) + IERC20(tokens[t]).balanceOf(thief);
            assertEq(loot, 0, "a stranger has tokens");
        }
        assertEq(copier.balance + thief.balance + frontRunner.balance, 0, "a stranger has native tokens");
    }

    function checkDeadline() public view {
        assertEq(afterDeadline, 0, "filled after its deadline");
    }

    function checkChain() public view {
        assertEq(onOtherChains, 0, "filled on another chain");
    }

    function checkContract() public view {
        assertEq(onOtherContracts, 0, "filled by another settlement");
    }

    function checkSigned() public view {
        assertEq(changed, 0, "filled with another field or another signer");
    }

    /// Relayers and affiliates have what was signed to them, to the wei.
    function checkFees() public view {
        assertEq(feesOff, 0, "another fee than signed");
        address[3] memory paid = [relayer, greedyRelayer, affiliate];
        for (uint256 i = 0; i < paid.length; ++i) {
            for (uint256 t = 0; t < TOKENS; ++t) {
                assertEq(IERC20(tokens[t]).balanceOf(paid[i]), earned[paid[i]][t], "fees and nothing else");
            }
            assertEq(paid[i].balance, earned[paid[i]][TOKENS], "native fees and nothing else");
        }
    }

    /// Nobody can leave the executor reserved, or jam it in another way.
    function checkJams() public view {
        assertEq(jams, 0, "the executor refused an honest caller");
    }

    /// Allowances shrink by what was sold; a permit that lies gives none; the contracts approve nobody.
    function checkAllowances() public view {
        assertEq(withoutAllowance, 0, "tokens moved without an allowance");
        for (uint256 t = 0; t < TOKENS; ++t) {
            IERC20 token = IERC20(tokens[t]);
            uint256 left = token.allowance(users[COUNTED], address(settlement));
            assertEq(left, COUNTED_ALLOWANCE - sold[t], "the allowance fell by what was sold");
            assertEq(token.allowance(users[UNAPPROVED], address(settlement)), 0, "nothing approved");
            address[6] memory spenders = [pairs[t], wethUsdcV3, address(rogue), thief, address(executor), greedyRelayer];
            for (uint256 i = 0; i < spenders.length; ++i) {
                uint256 given = token.allowance(address(executor), spenders[i]);
                given += token.allowance(address(settlement), spenders[i]);
                assertEq(given, 0, "the contracts approve nobody");
            }
        }
    }

    /// Code of hostile tokens, pools and receivers ran, and no call of it into the contracts succeeded.
    function checkHostileCode() public view {
        assertEq(hostileSuccesses, 0, "hostile code got through");
        assertEq(rogue.intrusions(), 0, "the rogue got through from within");
        assertTrue(!reenterer.entered(), "a receiver entered again");
        for (uint256 t = 0; t < TOKENS; ++t) {
            assertEq(IERC20(tokens[t]).balanceOf(address(hook)), 0, "the hostile token gained nothing");
        }
    }

    /// Every token is with somebody who should have it: nothing is stranded at an address that nobody named.
    function checkNothingIsLost() public view {
        uint256[3] memory plain = [USDC, USDT, LIAR];
        for (uint256 i = 0; i < plain.length; ++i) {
            IERC20 token = IERC20(tokens[plain[i]]);
            uint256 known = _heldByPools(token, pairs[plain[i]]) + _heldByPlayers(token);
            assertEq(known, token.totalSupply(), "all tokens are accounted for");
        }
    }

    function _heldByPools(IERC20 token, address pair) private view returns (uint256) {
        uint256 pools = token.balanceOf(pair) + token.balanceOf(wethUsdcV3) + token.balanceOf(usdcUsdtV2);
        pools += token.balanceOf(address(manager)) + token.balanceOf(address(desk));
        return pools + token.balanceOf(address(rogue)) + token.balanceOf(address(this));
    }

    function _heldByPlayers(IERC20 token) private view returns (uint256 held) {
        for (uint256 u = 0; u < USERS; ++u) held += token.balanceOf(users[u]);
        held += token.balanceOf(relayer) + token.balanceOf(greedyRelayer) + token.balanceOf(affiliate);
        held += token.balanceOf(frontRunner) + token.balanceOf(address(executor)) + token.balanceOf(address(settlement));
    }

    /// Whether the hostile code was really run: the hook, the pools of the rogue, the permits that lie.
    function checkHostilityHappened() external view {
        assertTrue(hook.attempts() != 0, "the hook ran");
        assertTrue(LyingPermitToken(tokens[LIAR]).permits() != 0, "a permit lied");
        uint256 paid;
        for (uint256 t = 0; t < TOKENS; ++t) paid += IERC20(tokens[t]).balanceOf(address(rogue));
        assertTrue(paid != 0, "the rogue was paid");
        assertTrue(address(manager).balance != offered, "the pool of the native coin was traded with");
        assertTrue(rogue.unlocked() != 0, "the rogue was a manager");
        assertTrue(rogue.natives() != 0, "and dealt in native coins");
        assertTrue(reenterer.attempts() != 0, "the receiver was paid and tried");
    }

    function checkAll() external view {
        checkUsers();
        checkCustody();
        checkMinimum();
        checkChain();
        checkContract();
        checkDeadline();
        checkCancelled();
        checkSigned();
        checkSender();
        checkOnce();
        checkFees();
        checkJams();
        checkAllowances();
        checkHostileCode();
        checkNothingIsLost();
    }
}
