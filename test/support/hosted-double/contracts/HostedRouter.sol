// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}

interface IWrappedNative {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

interface IPairFactory {
    function getPair(address tokenA, address tokenB) external view returns (address);
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @notice A small router with the packed entry points of the hosted service, for tests. It swaps through one Uniswap V2
/// pair. There is no nonce: a signature works until its deadline, as often as the allowance lasts.
contract HostedRouter {
    struct Order {
        address recipient;
        address fromAsset;
        address toAsset;
        uint256 deadline;
        uint256 amountOutMin;
        uint256 swapFee;
        uint256 amountIn;
        address affiliate;
        uint256 affiliateFee;
        bool hasAffiliate;
    }

    bytes32 private constant PLAIN_TYPE = keccak256(
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn)"
    );
    bytes32 private constant AFFILIATE_TYPE = keccak256(
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn,address affiliate,uint256 affiliateFee)"
    );
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    IPairFactory private immutable factory;
    address private immutable wrappedNative;
    address public immutable serviceSigner;

    constructor(IPairFactory factory_, address wrappedNative_, address serviceSigner_) {
        factory = factory_;
        wrappedNative = wrappedNative_;
        serviceSigner = serviceSigner_;
    }

    receive() external payable {
        require(msg.sender == wrappedNative, "only unwrapping");
    }

    /// @notice Self-execution: the service signed, the caller is the owner and the signed sender.
    function swapWithMagpieSignature(bytes calldata) external payable returns (uint256) {
        Order memory order = readOrder();
        require(recover(order) == serviceSigner, "not signed by the service");
        return execute(order, msg.sender);
    }

    /// @notice Gasless: the owner signed, the caller is the signed sender and gets the swap fee.
    function swapWithUserSignature(bytes calldata) external returns (uint256) {
        Order memory order = readOrder();
        return execute(order, recover(order));
    }

    function execute(Order memory order, address owner) private returns (uint256 received) {
        require(block.timestamp <= order.deadline, "deadline passed");
        uint256 gross = order.amountIn + order.swapFee + order.affiliateFee;
        address sold = order.fromAsset == address(0) ? wrappedNative : order.fromAsset;
        if (order.fromAsset == address(0)) {
            require(msg.value == gross, "wrong value");
            IWrappedNative(wrappedNative).deposit{value: gross}();
        } else {
            require(msg.value == 0, "unexpected value");
            usePermit(order.fromAsset, owner, gross);
            call(sold, abi.encodeWithSignature("transferFrom(address,address,uint256)", owner, address(this), gross));
        }
        if (order.swapFee > 0) send(sold, msg.sender, order.swapFee);
        if (order.affiliateFee > 0) send(sold, order.affiliate, order.affiliateFee);
        uint256 before = balance(order.toAsset, order.recipient);
        exchange(order, sold);
        received = balance(order.toAsset, order.recipient) - before;
        require(received >= order.amountOutMin, "output below the minimum");
    }

    /// A permit that fails is ignored: somebody may have used it already, and the transfer decides.
    function usePermit(address token, address owner, uint256 gross) private {
        uint8 v = uint8(uint256(word(209)) >> 248);
        if (v == 0) return;
        try IToken(token).permit(owner, address(this), gross, pointed(274), v, word(210), word(242)) {} catch {}
    }

    function exchange(Order memory order, address sold) private {
        bool unwrap = order.toAsset == address(0);
        address bought = unwrap ? wrappedNative : order.toAsset;
        IPair pair = IPair(factory.getPair(sold, bought));
        require(address(pair) != address(0), "no pair");
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        bool zeroForOne = pair.token0() == sold;
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        send(sold, address(pair), order.amountIn);
        uint256 amountAfterFee = order.amountIn * 997;
        uint256 amountOut = amountAfterFee * reserveOut / (reserveIn * 1000 + amountAfterFee);
        address to = unwrap ? address(this) : order.recipient;
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, to, "");
        if (!unwrap) return;
        IWrappedNative(wrappedNative).withdraw(amountOut);
        (bool sent,) = order.recipient.call{value: amountOut}("");
        require(sent, "the recipient refuses native tokens");
    }

    function balance(address token, address account) private view returns (uint256) {
        return token == address(0) ? account.balance : IToken(token).balanceOf(account);
    }

    function send(address token, address to, uint256 amount) private {
        call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    /// Tokens that return nothing are accepted, tokens that return false are not.
    function call(address token, bytes memory data) private {
        (bool ok, bytes memory answer) = token.call(data);
        require(ok && (answer.length == 0 || abi.decode(answer, (bool))), "the token refused");
    }

    /// Positions count from the first byte of the selector.
    function readOrder() private pure returns (Order memory order) {
        order.recipient = addressAt(72);
        order.fromAsset = addressAt(92);
        order.toAsset = addressAt(112);
        order.deadline = pointed(132);
        order.amountOutMin = pointed(135);
        order.swapFee = pointed(138);
        order.amountIn = pointed(141);
        uint256 flag = uint8(uint256(word(209)) >> 248) == 0 ? 210 : 277;
        order.hasAffiliate = uint256(word(flag)) >> 248 == 1;
        if (!order.hasAffiliate) return order;
        order.affiliate = addressAt(flag + 1);
        order.affiliateFee = pointed(flag + 21);
    }

    function recover(Order memory order) private view returns (address signer) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN_TYPE, keccak256("Magpie Router"), keccak256("3"), block.chainid, address(this))
        );
        bytes memory fields = abi.encode(
            order.hasAffiliate ? AFFILIATE_TYPE : PLAIN_TYPE,
            address(this),
            msg.sender,
            order.recipient,
            order.fromAsset,
            order.toAsset,
            order.deadline,
            order.amountOutMin,
            order.swapFee,
            order.amountIn
        );
        if (order.hasAffiliate) fields = bytes.concat(fields, abi.encode(order.affiliate, order.affiliateFee));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", domain, keccak256(fields)));
        signer = ecrecover(digest, uint8(uint256(word(208)) >> 248), word(144), word(176));
        require(signer != address(0), "no signature");
    }

    function word(uint256 at) private pure returns (bytes32 value) {
        assembly {
            value := calldataload(at)
        }
    }

    function addressAt(uint256 at) private pure returns (address) {
        return address(uint160(uint256(word(at)) >> 96));
    }

    function pointed(uint256 at) private pure returns (uint256) {
        uint256 pointer = uint256(word(at)) >> 232;
        return uint256(word(pointer & 0xffff)) >> (pointer >> 16);
    }
}
