-- The last swap of a wallet's token that came to its end: a reading that began before it did is an old one.
CREATE INDEX capabilities_freed ON capabilities (token, wallet) WHERE live = 0;
