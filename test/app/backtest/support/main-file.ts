/** The first candle's instant, 2025-01-01, a Wednesday. */
export const START_MS = 1_735_689_600_000;

/** A configuration on paper with two tokens, whose policy and strategies stand beside it. */
export const MAIN = `version: 1
mode: paper
network: { name: base, rpc: [{ env: NO_NODE }], confirmations: 3 }
service: { profile: swapd, url: embedded }
wallets: { main: { paper: { USDC: 10000 } } }
tokens:
  USDC: { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, feed: preset, peg: USD }
  WETH: { address: "0x4200000000000000000000000000000000000006", decimals: 18, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
`;

/** One more token for it, a line among its tokens. */
export const WBTC = `  WBTC: { address: "0x0555E30da8f98308EdB960aa94C0Db47230d2B9c", decimals: 8, feed: { address: "0x07DA0E54543a844a80ABE69c8A12F22B3aA59f9D", heartbeat: 20m } }
`;
