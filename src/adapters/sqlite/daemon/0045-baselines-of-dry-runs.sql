-- A dry run wrote down what the audit and the books count from, months before the wallet traded, and of wallets on paper coins
-- that nobody has. Of those that signed nothing here it is read anew at their first live check.
DELETE FROM baselines WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'paper_starts')
  AND wallet NOT IN (SELECT wallet FROM known_chain)
  AND wallet NOT IN (SELECT wallet FROM capabilities)
  AND wallet NOT IN (SELECT wallet FROM grants)
  AND wallet NOT IN (SELECT wallet FROM swaps WHERE block_number IS NOT NULL OR nonce IS NOT NULL);
