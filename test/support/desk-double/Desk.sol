// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}

interface IPairFactory {
    function getPair(address tokenA, address tokenB) external view returns (address);
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @notice The spender: takes tokens out of wallets, for the desk and the book alone. Nothing else is ever approved.
contract Vault {
    mapping(address => bool) private obeyed;
    address private keeper = msg.sender;

    function obey(address desk, address book) external {
        require(msg.sender == keeper, "not the keeper");
        keeper = address(0);
        obeyed[desk] = true;
        obeyed[book] = true;
    }

    function take(address token, address from, address to, uint256 amount) external {
        require(obeyed[msg.sender], "not obeyed");
        (bool ok, bytes memory answer) =
            token.call(abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
        require(ok && (answer.length == 0 || abi.decode(answer, (bool))), "the token refused");
    }
}

struct Terms {
    address give;
    uint256 giveAmount;
    address get;
    uint256 getAtLeast;
    address to;
    uint256 until;
}

/// @notice Trades through one Uniswap V2 pair, into which the vault takes the tokens.
abstract contract Market {
    Vault internal immutable vault;
    IPairFactory private immutable factory;

    constructor(Vault vault_, IPairFactory factory_) {
        vault = vault_;
        factory = factory_;
    }

    function exchange(Terms calldata terms, address owner) internal returns (uint256 got) {
        require(block.timestamp <= terms.until, "too late");
        IPair pair = IPair(factory.getPair(terms.give, terms.get));
        require(address(pair) != address(0), "no pair");
        bool zeroForOne = pair.token0() == terms.give;
        uint256 amountOut = outputOf(pair, zeroForOne, terms.giveAmount);
        uint256 before = IToken(terms.get).balanceOf(terms.to);
        vault.take(terms.give, owner, address(pair), terms.giveAmount);
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, terms.to, "");
        got = IToken(terms.get).balanceOf(terms.to) - before;
        require(got >= terms.getAtLeast, "too little");
    }

    function outputOf(IPair pair, bool zeroForOne, uint256 amount) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        return amount * 997 * reserveOut / (reserveIn * 1000 + amount * 997);
    }
}

/// @notice The target: what an owner calls.
contract Desk is Market {
    constructor(Vault vault_, IPairFactory factory_) Market(vault_, factory_) {}

    function trade(Terms calldata terms) external returns (uint256 got) {
        return exchange(terms, msg.sender);
    }
}

/// @notice The verifying contract: checks orders, fills each once, and reports it.
contract Book is Market {
    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    event Filled(address indexed owner, uint256 indexed number, address give, address get, uint256 gave, uint256 got);
    event Cancelled(address indexed owner, uint256 indexed number);

    bytes32 private constant ORDER_TYPE = keccak256(
        "Order(address filler,address give,uint256 giveAmount,address get,uint256 getAtLeast,address to,uint256 until,uint256 number)"
    );
    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    mapping(address => mapping(uint256 => bool)) public used;

    constructor(Vault vault_, IPairFactory factory_) Market(vault_, factory_) {}

    /// @notice A permit that fails is ignored: the transfer decides. Without one its `v` is zero.
    function fill(
        Terms calldata terms,
        uint256 number,
        Signature calldata signature,
        Signature calldata permit,
        uint256 permitUntil
    ) external returns (uint256 got) {
        address owner = ownerOf(terms, number, signature);
        require(!used[owner][number], "used");
        used[owner][number] = true;
        if (permit.v != 0) {
            try IToken(terms.give).permit(
                owner, address(vault), terms.giveAmount, permitUntil, permit.v, permit.r, permit.s
            ) {} catch {}
        }
        got = exchange(terms, owner);
        emit Filled(owner, number, terms.give, terms.get, terms.giveAmount, got);
    }

    function cancel(uint256 number) external {
        require(!used[msg.sender][number], "used");
        used[msg.sender][number] = true;
        emit Cancelled(msg.sender, number);
    }

    function ownerOf(Terms calldata terms, uint256 number, Signature calldata signature)
        private
        view
        returns (address owner)
    {
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPE, keccak256("Desk Book"), keccak256("1"), block.chainid, address(this)));
        bytes32 order = keccak256(abi.encode(ORDER_TYPE, msg.sender, terms, number));
        owner = ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, order)), signature.v, signature.r, signature.s);
        require(owner != address(0), "no signature");
    }
}
