-- Whether who handed a swap over came with a key: those without one have a share of the day's losses together.
ALTER TABLE relays ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0 CHECK (keyed IN (0, 1));
UPDATE relays SET keyed = 1 WHERE caller LIKE 'key %';

-- What is asked of losses: by wallet, by caller, by bought token, and by all without a key. What an earlier release's swap
-- earned beyond its cost is not known.
ALTER TABLE relay_costs ADD COLUMN keyed INTEGER NOT NULL DEFAULT 0 CHECK (keyed IN (0, 1));
ALTER TABLE relay_costs ADD COLUMN to_token TEXT NOT NULL DEFAULT '';
ALTER TABLE relay_costs ADD COLUMN earned_gwei INTEGER NOT NULL DEFAULT 0;
UPDATE relay_costs SET
  keyed = caller LIKE 'key %',
  to_token = coalesce((SELECT to_token FROM swaps WHERE swaps.intent_id = relay_costs.intent_id), ''),
  earned_gwei = paid_gwei - loss_gwei;
DROP INDEX relay_reverts_of_caller;
CREATE INDEX relay_costs_of_wallet ON relay_costs (network, wallet, paid_at_ms, paid_gwei, earned_gwei);
CREATE INDEX relay_costs_of_caller ON relay_costs (network, caller, paid_at_ms, paid_gwei, earned_gwei);
CREATE INDEX relay_costs_of_token ON relay_costs (network, to_token, paid_at_ms, paid_gwei, earned_gwei);
CREATE INDEX relay_losses_of_keyless ON relay_costs (network, paid_at_ms, loss_gwei) WHERE keyed = 0;
