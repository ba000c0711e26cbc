// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {PermitToken} from "../../src/sandbox/PermitToken.sol";
import {SwapdSettlement} from "../../src/SwapdSettlement.sol";
import {Leg, NATIVE, Protocol, Swap} from "../../src/SwapTypes.sol";
import {FakePool, HookToken, ReenteringReceiver, SlowDebt, TaxToken} from "../Fixtures.sol";
import {V4Pools} from "../V4Pools.sol";
import {VM} from "../Vm.sol";
import {Committed} from "../Committed.sol";
import {FalseToken, LyingPermitToken, RogueFactory} from "./HostileFixtures.sol";

/// Everybody who plays, and what each of them has: honest users with wide approvals, two relayers, those who copy and
/// forge, tokens and pools of every hostile kind. Every token trades against wrapped native.
abstract contract Arena is V4Pools {
    using SafeERC20 for IERC20;

    uint256 internal constant USERS = 4;
    /// Signs orders and never approves anything: nothing but a permit could move its tokens.
    uint256 internal constant UNAPPROVED = 3;
    /// Approves much and not all, so that its allowance shows what was taken.
    uint256 internal constant COUNTED = 2;
    uint256 internal constant COUNTED_ALLOWANCE = 1e40;
    uint8 internal constant KINDS = 4;
    uint256 internal constant TOKENS = 7;
    uint256 internal constant WETH = 0;
    uint256 internal constant USDC = 1;
    uint256 internal constant USDT = 2;
    uint256 internal constant TAX = 3;
    uint256 internal constant HOOK = 4;
    uint256 internal constant FALSE = 5;
    uint256 internal constant LIAR = 6;

    address[TOKENS] internal tokens;
    uint256[TOKENS] internal units;
    address[TOKENS] internal pairs;
    address[USERS] internal users;
    uint256[USERS] internal keys;
    address internal greedyRelayer = address(0x64EED4);
    address internal copier = address(0xC0B1E4);
    address internal frontRunner = address(0xF407);
    address internal thief = address(0x741EF);
    HookToken internal hook;
    FalseToken internal falseToken;
    RogueFactory internal rogue;
    FakePool internal fakePool;
    SlowDebt internal debt;
    ReenteringReceiver internal reenterer;
    /// The hostile token also trades in a pool that pays before it is paid.
    address internal hookWethV3;
    /// A second settlement on the same executor, which the users have approved too.
    SwapdSettlement internal twin;
    /// Where the honest manager of Uniswap V4 is among the protocols.
    uint8 internal v4;
    /// Native coins in its pool at the beginning.
    uint256 internal offered;
    /// The first of the protocols whose factory is the rogue: one of each kind.
    uint8 internal firstRogue;

    uint256 private immutable _salt;
    uint256 private transient _entropy;

    constructor(uint256 salt) {
        _salt = salt;
        setUp();
    }

    function setUp() public override {
        super.setUp();
        twin = Committed.settlement(address(weth), address(executor));
        hook = new HookToken();
        falseToken = new FalseToken();
        debt = new SlowDebt();
        fakePool = new FakePool(address(usdc), address(weth));
        reenterer = new ReenteringReceiver(settlement);
        tokens = [
            address(weth),
            address(usdc),
            address(usdt),
            address(new TaxToken()),
            address(hook),
            address(falseToken),
            address(new LyingPermitToken())
        ];
        address[] memory coins = new address[](TOKENS);
        for (uint256 t = 0; t < TOKENS; ++t) coins[t] = tokens[t];
        rogue.know(coins);
        VM.deal(address(rogue), 10 ether);
        units = [uint256(1e15), 1e6, 1e6, 1 ether, 1 ether, 1 ether, 1 ether];
        pairs[USDC] = wethUsdcV2;
        for (uint256 t = USDT; t < TOKENS; ++t) {
            if (t == TAX) PermitToken(tokens[t]).mint(address(this), 1e6 ether);
            pairs[t] = _poolV2(tokens[t], 1e6 * units[t], address(weth), 1_000 ether);
        }
        hookWethV3 = _poolV3(address(hook), 1e6 ether, address(weth), 1_000 ether);
        _poolV4AtWorth(NATIVE, 3_000 ether, address(usdc), 9_000_000e6);
        _poolV4AtWorth(address(weth), 1_000 ether, address(hook), 1e6 ether);
        offered = address(manager).balance;
        for (uint256 u = 0; u < USERS; ++u) {
            (keys[u], users[u]) = (0xA11CE + u, VM.addr(0xA11CE + u));
            for (uint256 t = 0; t < TOKENS; ++t) _endow(u, t);
            VM.deal(users[u], 1e6 ether);
        }
        _fund(address(usdc), frontRunner, 1e9 * 1e6);
        _fund(address(weth), address(debt), 1_000 ether);
        VM.startPrank(frontRunner);
        usdc.approve(address(minter), type(uint256).max);
        weth.approve(address(minter), type(uint256).max);
        VM.stopPrank();
    }

    function _poolV4AtWorth(address tokenA, uint256 amountA, address tokenB, uint256 amountB) private {
        (uint256 amount0, uint256 amount1) = tokenA < tokenB ? (amountA, amountB) : (amountB, amountA);
        uint160 price = uint160(Math.sqrt(Math.mulDiv(amount1, 1 << 192, amount0)));
        _poolV4(_key(tokenA, tokenB, 3000), price, -FULL_RANGE_TICK, FULL_RANGE_TICK, Math.sqrt(amount0 * amount1));
    }

    function _endow(uint256 user, uint256 token) private {
        _fund(tokens[token], users[user], 1e9 * units[token]);
        if (user == UNAPPROVED) return;
        VM.startPrank(users[user]);
        IERC20(tokens[token]).forceApprove(
            address(settlement), user == COUNTED ? COUNTED_ALLOWANCE : type(uint256).max
        );
        IERC20(tokens[token]).forceApprove(address(twin), type(uint256).max);
        VM.stopPrank();
    }

    /// Beside the protocols of the others, every kind of a factory that vouches for a hostile pool.
    function _protocols() internal override returns (Protocol[] memory protocols) {
        rogue = new RogueFactory();
        _createManager();
        Protocol[] memory honest = super._protocols();
        protocols = new Protocol[](honest.length + 1 + KINDS);
        for (uint256 i = 0; i < honest.length; ++i) protocols[i] = honest[i];
        v4 = uint8(honest.length);
        protocols[v4] = _managerProtocol();
        firstRogue = v4 + 1;
        for (uint8 kind = 1; kind <= KINDS; ++kind) {
            uint24 feePips = kind == 1 ? 3000 : 0;
            protocols[firstRogue + kind - 1] = Protocol({kind: kind, factory: address(rogue), feePips: feePips, initCodeHash: 0});
        }
    }

    /// Every campaign has a salt of its own, so that equal seeds play different games.
    modifier seeded(uint256 seed) {
        _entropy = uint256(keccak256(abi.encode(seed, _salt)));
        _;
    }

    function _pick(uint256 count) internal returns (uint256) {
        uint256 entropy = uint256(keccak256(abi.encode(_entropy)));
        _entropy = entropy;
        return entropy % count;
    }

    /// Who tries what only others may: none of them is ever named in an order.
    function _outsider() internal returns (address) {
        return [copier, frontRunner, thief, address(hook), address(rogue)][_pick(5)];
    }

    function _randomOrder(uint256 user) internal returns (Swap memory order) {
        uint256 from = _pick(TOKENS);
        uint256 to = (from + 1 + _pick(TOKENS - 1)) % TOKENS;
        uint256 amountIn = units[from] * (1 + _pick(1_000));
        order = _order(tokens[from], tokens[to], amountIn);
        order.recipient = users[_pick(3) == 0 ? _pick(USERS) : user];
        order.deadline = block.timestamp + _pick(600);
        order.amountOutMin = _quote(tokens[from], tokens[to], amountIn) * (400 + _pick(600)) / 1_000 + 1;
        if (to == WETH && _pick(2) == 0) {
            order.toAsset = NATIVE;
            if (_pick(4) == 0) order.recipient = address(reenterer);
        }
        if (_pick(2) == 0) (order.affiliate, order.affiliateFee) = (affiliate, amountIn * _pick(3) / 100 + 1);
    }

    function _quote(address from, address to, uint256 amountIn) internal view returns (uint256) {
        if (from == address(weth)) return _quoteV2(_pairOf(to), from, amountIn);
        uint256 wethOut = _quoteV2(_pairOf(from), from, amountIn);
        return to == address(weth) ? wethOut : _quoteV2(_pairOf(to), address(weth), wethOut);
    }

    function _pairOf(address token) internal view returns (address) {
        for (uint256 t = USDC; t < TOKENS; ++t) {
            if (tokens[t] == token) return pairs[t];
        }
        return address(0);
    }

    function _assetToken(address asset) internal view returns (address) {
        return asset == NATIVE ? address(weth) : asset;
    }

    /// Good routes and every kind of bad one, as only the sender of a transaction decides.
    function _randomRoute(Swap memory order) internal returns (Leg[] memory route) {
        (address from, address to) = (_assetToken(order.fromAsset), _assetToken(order.toAsset));
        uint256 style = _pick(10);
        if (style == 0 && _isWethUsdc(from, to)) return _route(V3, wethUsdcV3, from, to);
        if (style == 0 && _isWethHook(from, to)) return _route(V3, hookWethV3, from, to);
        if (style == 1 && _isWethUsdc(from, to)) return _throughV4(from, to, 3000 | NATIVE_POOL);
        if (style == 1 && _isWethHook(from, to)) return _throughV4(from, to, 3000);
        if (style < 4) return _path(from, to, ALL, 0);
        if (style == 4) return _sellingLess(from, to);
        if (style == 5) return _path(from, to, uint64(1 + _pick(ALL)), 0);
        if (style == 6) return _detour(from, to);
        if (style == 7) return _withRogue(from, to);
        if (style == 8 && _pick(2) == 0) return new Leg[](0);
        route = _path(from, to, ALL, 0);
        // A pool that no factory knows, or the sale of what somebody else left in the executor.
        if (style == 8) route[0].pool = address(fakePool);
        else route[0].tokenIn = tokens[_pick(TOKENS)];
    }

    function _throughV4(address from, address to, uint24 fee) private returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = _legV4(v4, from, to, fee, _pick(3) == 0 ? uint64(1 + _pick(ALL)) : ALL);
    }

    function _isWethUsdc(address from, address to) private view returns (bool) {
        return (from == address(weth) && to == address(usdc)) || (from == address(usdc) && to == address(weth));
    }

    function _isWethHook(address from, address to) private view returns (bool) {
        return (from == address(weth) && to == address(hook)) || (from == address(hook) && to == address(weth));
    }

    /// Through wrapped native, the last leg with less than all of its input, after `free` legs to be filled in.
    function _path(address from, address to, uint64 portion, uint256 free) internal view returns (Leg[] memory route) {
        bool direct = from == address(weth) || to == address(weth);
        route = new Leg[](free + (direct ? 1 : 2));
        if (direct) {
            route[free] = _leg(V2, _pairOf(from == address(weth) ? to : from), from, to, portion);
        } else {
            route[free] = _leg(V2, _pairOf(from), from, address(weth), ALL);
            route[free + 1] = _leg(V2, _pairOf(to), address(weth), to, portion);
        }
    }

    /// The first leg leaves a part of the sold token over.
    function _sellingLess(address from, address to) private returns (Leg[] memory route) {
        route = _path(from, to, ALL, 0);
        route[0].portion = uint64(ALL / 100 * (50 + _pick(50)));
    }

    /// A part of the input goes through the token with the hook first and comes back, so that its code runs while the
    /// rest waits in the executor.
    function _detour(address from, address to) private returns (Leg[] memory route) {
        if (from == address(hook) || to == address(hook)) return _path(from, to, ALL, 0);
        if (from != address(weth)) {
            route = _path(from, to, ALL, 3);
            route[0] = _leg(V2, _pairOf(from), from, address(weth), uint64(ALL / 100 * (1 + _pick(50))));
        } else {
            route = _path(from, to, ALL, 2);
        }
        uint256 next = route.length > 2 && from != address(weth) ? 1 : 0;
        uint64 portion = from == address(weth) ? uint64(ALL / 100 * (1 + _pick(50))) : ALL;
        route[next] = _leg(V2, pairs[HOOK], address(weth), address(hook), portion);
        route[next + 1] = _leg(V2, pairs[HOOK], address(hook), address(weth), ALL);
    }

    /// A part of the input goes to the rogue, which keeps it.
    function _withRogue(address from, address to) private returns (Leg[] memory route) {
        route = _path(from, to, ALL, 1);
        // As a manager most often: there it has most to try.
        uint8 protocol = firstRogue + uint8(Math.min(_pick(KINDS + 2), KINDS - 1));
        route[0] = _leg(protocol, address(rogue), from, to, uint64(ALL / 100 * (1 + _pick(30))));
        if (protocol != firstRogue + KINDS - 1 || _pick(4) == 0) return route;
        if (route.length == 3) {
            // It is sold wrapped native tokens, as native coins, where others go through them.
            (route[0], route[1]) = (route[1], route[0]);
            route[1].tokenIn = address(weth);
        }
        route[route.length - 2].fee = 3000 | NATIVE_POOL;
    }
}
