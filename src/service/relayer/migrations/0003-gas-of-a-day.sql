-- Who handed a swap over: a key's name or an address, as limits count them. Empty for swaps of an earlier release.
ALTER TABLE relays ADD COLUMN caller TEXT NOT NULL DEFAULT '';

-- What is asked of a day's costs: the sums, in whole gwei rounded up, and whose swaps reverted at the relayer's expense.
ALTER TABLE relay_costs ADD COLUMN network TEXT NOT NULL DEFAULT '';
ALTER TABLE relay_costs ADD COLUMN wallet TEXT NOT NULL DEFAULT '';
ALTER TABLE relay_costs ADD COLUMN caller TEXT NOT NULL DEFAULT '';
ALTER TABLE relay_costs ADD COLUMN paid_gwei INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relay_costs ADD COLUMN loss_gwei INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relay_costs ADD COLUMN reverted INTEGER NOT NULL DEFAULT 0 CHECK (reverted IN (0, 1));
UPDATE relay_costs SET
  network = coalesce((SELECT network FROM swaps WHERE swaps.intent_id = relay_costs.intent_id), ''),
  wallet = coalesce((SELECT wallet FROM swaps WHERE swaps.intent_id = relay_costs.intent_id), ''),
  paid_gwei = (CAST(gas_paid AS INTEGER) + 999999999) / 1000000000,
  loss_gwei = (CAST(loss AS INTEGER) + 999999999) / 1000000000;
DROP INDEX relay_losses;
CREATE INDEX relay_costs_of_day ON relay_costs (network, paid_at_ms, paid_gwei, loss_gwei);
CREATE INDEX relay_reverts_of_wallet ON relay_costs (network, wallet, paid_at_ms) WHERE reverted = 1;
CREATE INDEX relay_reverts_of_caller ON relay_costs (network, caller, paid_at_ms) WHERE reverted = 1;
