-- What the factories said about pairs of tokens. Everything here can be asked for again; it saves a restart the asking.
CREATE TABLE pool_searches (
  -- chain, factories and fee tiers that were asked: with others the answers say nothing
  scope TEXT NOT NULL,
  token0 TEXT NOT NULL,
  token1 TEXT NOT NULL,
  -- the pools found, as JSON; an empty list is an answer, too
  pools TEXT NOT NULL,
  searched_at_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, token0, token1)
) STRICT;
CREATE INDEX pool_searches_by_age ON pool_searches (searched_at_ms);
