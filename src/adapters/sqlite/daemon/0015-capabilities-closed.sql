-- A reading of a wallet's token that began before another swap of it came to its end is an old one.
CREATE INDEX capabilities_closed ON capabilities (token, closed_at_ms);
