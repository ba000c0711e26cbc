-- API keys of the service. A key itself is shown once and stored nowhere; its 256 random bits need no salt.
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  -- NULL: the service's limit for keys
  requests_per_second INTEGER CHECK (requests_per_second > 0),
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX api_keys_by_name ON api_keys (name) WHERE revoked_at_ms IS NULL;
