// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Leg, NATIVE, Protocol, Swap} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {Orders} from "./Orders.sol";
import {V4Pools} from "./V4Pools.sol";
import {VM} from "./Vm.sol";

interface IV2Router {
    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external returns (uint256[] memory amounts);

    function swapExactETHForTokens(uint256 amountOutMin, address[] calldata path, address to, uint256 deadline)
        external
        payable
        returns (uint256[] memory amounts);

    function swapExactTokensForETH(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external returns (uint256[] memory amounts);
}

interface IV3Router {
    struct ExactInputSingleParams {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    struct ExactInputParams {
        bytes path;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
    }

    function exactInputSingle(ExactInputSingleParams calldata params) external payable returns (uint256 amountOut);

    function exactInput(ExactInputParams calldata params) external payable returns (uint256 amountOut);
}

/// Gas of a swap here and in Uniswap's own routers (the bytecode that Uniswap publishes): the same pools in the same
/// state, the same amounts and the same output, to a recipient that has had the token before. Each call is a transaction
/// of its own here (`isolate`), so each figure is what a receipt would say: with calldata, less the refunds.
/// `npm run contracts:test -- --match-path contracts/test/Gas.t.sol -vv` prints them.
///
/// forge-config: default.isolate = true
contract GasTest is Orders {
    event log_named_uint(string what, uint256 gas);

    address private v2Router;
    address private v3Router;

    function setUp() public override {
        super.setUp();
        v2Router = _create(
            abi.encodePacked(_uniswap("v2-periphery/build/UniswapV2Router02.json"), abi.encode(v2Factory, weth))
        );
        v3Router = _create(
            abi.encodePacked(
                _uniswap("v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json"), abi.encode(v3Factory, weth)
            )
        );
        address[3] memory held = [address(usdc), address(weth), address(wbtc)];
        for (uint256 i = 0; i < held.length; ++i) {
            _fund(held[i], recipient, 1);
            _fund(held[i], owner, 1e22);
            VM.startPrank(owner);
            IERC20(held[i]).approve(address(settlement), type(uint256).max);
            IERC20(held[i]).approve(v2Router, type(uint256).max);
            IERC20(held[i]).approve(v3Router, type(uint256).max);
            VM.stopPrank();
        }
        VM.deal(owner, 100 ether);
        VM.deal(recipient, 1);
    }

    /// Gas of a transaction, and its output. Everything is put back, so that the next one finds the same state.
    function _measure(address sender, address target, uint256 value, bytes memory data, address bought)
        private
        returns (uint256 gas, uint256 output)
    {
        uint256 snapshot = VM.snapshotState();
        uint256 before = bought == NATIVE ? recipient.balance : IERC20(bought).balanceOf(recipient);
        VM.prank(sender);
        (bool done,) = target.call{value: value}(data);
        gas = VM.lastCallGas().gasTotalUsed;
        assertTrue(done, "the swap is done");
        output = (bought == NATIVE ? recipient.balance : IERC20(bought).balanceOf(recipient)) - before;
        VM.revertToState(snapshot);
    }

    struct Figures {
        uint256 ours;
        uint256 gasless;
        uint256 theirs;
    }

    /// The same swap three ways: the owner's own transaction, a signed one, and Uniswap's router.
    function _compare(string memory what, Swap memory order, Leg[] memory route, address router, bytes memory theirs)
        private
        returns (Figures memory figures)
    {
        uint256 value = order.fromAsset == NATIVE ? order.amountIn : 0;
        (uint256 gas, uint256 output) = _measure(
            owner, address(settlement), value, abi.encodeCall(settlement.swap, (order, route)), order.toAsset
        );
        figures.ours = gas;
        uint256 outputThere;
        (figures.theirs, outputThere) = _measure(owner, router, value, theirs, order.toAsset);
        assertEq(output, outputThere, "the same output");
        emit log_named_uint(string.concat(what, ", Uniswap's router"), figures.theirs);
        emit log_named_uint(string.concat(what, ", own transaction"), figures.ours);
        if (order.fromAsset == NATIVE) return figures;
        bytes memory signed =
            abi.encodeCall(settlement.swapWithSignature, (owner, order, route, _sign(order), _noPermit()));
        (figures.gasless, output) = _measure(relayer, address(settlement), 0, signed, order.toAsset);
        assertEq(output, outputThere, "the same output");
        emit log_named_uint(string.concat(what, ", gasless"), figures.gasless);
    }

    /// What our promises cost a swap: the ledger of balances, the hop over the executor, the event; and the signature
    /// with its nonce. @param percent the most that an own transaction may use, of what Uniswap's router does
    function _assertBounded(Figures memory figures, uint256 percent) private pure {
        assertTrue(figures.ours * 100 <= figures.theirs * percent, "own transaction within its bound");
        assertTrue(figures.gasless <= figures.ours + 32_000, "gasless within its bound");
    }

    function _path(address a, address b) private pure returns (address[] memory path) {
        path = new address[](2);
        (path[0], path[1]) = (a, b);
    }

    function test_gasOfOneV2Pool() public {
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        bytes memory theirs = abi.encodeCall(
            IV2Router.swapExactTokensForTokens,
            (order.amountIn, 1, _path(address(usdc), address(weth)), recipient, order.deadline)
        );
        Leg[] memory route = _route(V2, wethUsdcV2, address(usdc), address(weth));
        _assertBounded(_compare("v2 token to token", order, route, v2Router, theirs), 150);
    }

    function test_gasOfOneV2PoolFromNative() public {
        Swap memory order = _order(NATIVE, address(usdc), 3 ether);
        bytes memory theirs = abi.encodeCall(
            IV2Router.swapExactETHForTokens, (1, _path(address(weth), address(usdc)), recipient, order.deadline)
        );
        Leg[] memory route = _route(V2, wethUsdcV2, address(weth), address(usdc));
        _assertBounded(_compare("v2 native to token", order, route, v2Router, theirs), 150);
    }

    function test_gasOfOneV2PoolToNative() public {
        Swap memory order = _order(address(usdc), NATIVE, 10_000e6);
        bytes memory theirs = abi.encodeCall(
            IV2Router.swapExactTokensForETH,
            (order.amountIn, 1, _path(address(usdc), address(weth)), recipient, order.deadline)
        );
        Leg[] memory route = _route(V2, wethUsdcV2, address(usdc), address(weth));
        _assertBounded(_compare("v2 token to native", order, route, v2Router, theirs), 150);
    }

    function test_gasOfOneV3Pool() public {
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        bytes memory theirs = abi.encodeCall(
            IV3Router.exactInputSingle,
            (IV3Router.ExactInputSingleParams(
                    address(usdc), address(weth), 3000, recipient, order.deadline, order.amountIn, 1, 0
                ))
        );
        Leg[] memory route = _route(V3, wethUsdcV3, address(usdc), address(weth));
        _assertBounded(_compare("v3 token to token", order, route, v3Router, theirs), 130);
    }

    function test_gasOfTwoV3Pools() public {
        Swap memory order = _order(address(usdc), address(wbtc), 10_000e6);
        bytes memory path = abi.encodePacked(address(usdc), uint24(3000), address(weth), uint24(3000), address(wbtc));
        bytes memory theirs = abi.encodeCall(
            IV3Router.exactInput, (IV3Router.ExactInputParams(path, recipient, order.deadline, order.amountIn, 1))
        );
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V3, wethUsdcV3, address(usdc), address(weth), ALL);
        route[1] = _leg(V3, wbtcWethV3, address(weth), address(wbtc), ALL);
        _assertBounded(_compare("v3 two pools", order, route, v3Router, theirs), 130);
    }
}

/// Gas of a swap in one pool of Uniswap V4, likewise. There is nothing to compare it with: the router that Uniswap has for
/// these pools has no bytecode in a package.
///
/// forge-config: default.isolate = true
contract V4GasTest is V4Pools {
    event log_named_uint(string what, uint256 gas);

    uint8 private constant V4 = 2;

    function setUp() public override {
        super.setUp();
        _createManager();
        Protocol[] memory others = _protocols();
        Protocol[] memory protocols = new Protocol[](3);
        (protocols[V2], protocols[V3], protocols[V4]) = (others[V2], others[V3], _managerProtocol());
        executor = Committed.executor(address(weth), protocols);
        settlement = Committed.settlement(address(weth), address(executor));
        _poolV4(_key(address(usdc), address(usdt), 3000), 1 << 96, -6_000, 6_000, 1e15);
        _poolV4(_key(NATIVE, address(usdc), 3000), 1 << 96, -6_000, 6_000, 1e15);
        address[3] memory held = [address(usdc), address(usdt), address(weth)];
        for (uint256 i = 0; i < held.length; ++i) {
            _fund(held[i], recipient, 1);
            _fund(held[i], owner, 1e22);
            VM.startPrank(owner);
            // Tether's answers nothing.
            (bool done,) =
                held[i].call(abi.encodeCall(IERC20.approve, (address(settlement), type(uint256).max)));
            VM.stopPrank();
            assertTrue(done, "approved");
        }
        VM.deal(owner, 100 ether);
        VM.deal(recipient, 1);
        // Both ways once, so that no slot of the pools is new.
        _swap(address(usdc), address(usdt), 3000);
        _swap(address(usdt), address(usdc), 3000);
        _swap(address(usdc), address(weth), 3000 | NATIVE_POOL);
        _swap(address(weth), address(usdc), 3000 | NATIVE_POOL);
    }

    function _swap(address sold, address bought, uint24 fee) private returns (uint256 gas) {
        Leg[] memory route = new Leg[](1);
        (address tokenIn, address tokenOut) =
            (sold == NATIVE ? address(weth) : sold, bought == NATIVE ? address(weth) : bought);
        route[0] = _legV4(V4, tokenIn, tokenOut, fee, ALL);
        Swap memory order = _order(sold, bought, 10_000e6);
        VM.prank(owner);
        settlement.swap{value: sold == NATIVE ? order.amountIn : 0}(order, route);
        return VM.lastCallGas().gasTotalUsed;
    }

    function _assertBounded(string memory what, uint256 gas, uint256 most) private {
        emit log_named_uint(what, gas);
        assertTrue(gas <= most, "within its bound");
    }

    function test_gasOfOneV4Pool() public {
        _assertBounded("v4 token to token", _swap(address(usdc), address(usdt), 3000), 160_000);
    }

    function test_gasOfOneV4PoolOfTheNativeCoin() public {
        _assertBounded("v4 native to token", _swap(NATIVE, address(usdc), 3000 | NATIVE_POOL), 176_000);
        _assertBounded("v4 token to native", _swap(address(usdc), NATIVE, 3000 | NATIVE_POOL), 176_000);
        _assertBounded("v4 wrapped to token", _swap(address(weth), address(usdc), 3000 | NATIVE_POOL), 176_000);
        _assertBounded("v4 token to wrapped", _swap(address(usdc), address(weth), 3000 | NATIVE_POOL), 176_000);
    }
}
