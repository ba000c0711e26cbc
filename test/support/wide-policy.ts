/** A policy that lets small trades of any strategy through, on a chain of the test's own. */
export const WIDE_POLICY = `version: 1
max_trade: "1000 USD"
max_per_day: "100000 USD"
recipients: [main]
gas_reserve: "0.1 ETH"
max_gas_price: 100gwei
max_slippage: 2%
max_price_impact: 5%
max_fee: 20%
reference: { sources: [feed], tolerance: 10% }
pause_after: { failures: 100, within: 1h }
`;
