-- A wallet's swaps are counted by network and status in the index alone: no row of its history is looked up.
DROP INDEX swaps_by_wallet;
CREATE INDEX swaps_of_wallet ON swaps (wallet, network, status);
