-- Who may use the API: one-time codes, logins of browsers, tokens. Only hashes of what they carry.
CREATE TABLE access (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'login', 'token')),
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'operate')),
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  made_by TEXT NOT NULL,
  made_at_ms INTEGER NOT NULL,
  until_ms INTEGER,
  used_at_ms INTEGER,
  ended_at_ms INTEGER,
  CHECK (kind = 'token' OR until_ms IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX access_tokens ON access (name) WHERE kind = 'token' AND ended_at_ms IS NULL;
CREATE TRIGGER access_ended BEFORE UPDATE ON access WHEN OLD.ended_at_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'what was revoked or used stays so'); END;
CREATE TRIGGER access_fixed BEFORE UPDATE OF kind, name, scope, hash, until_ms ON access
BEGIN SELECT RAISE(ABORT, 'what was given never changes'); END;

-- A key under which something was asked for: the same again is the same request.
CREATE TABLE action_keys (
  access_id INTEGER NOT NULL REFERENCES access (id),
  key TEXT NOT NULL,
  -- SHA-256 of what was asked for
  asked TEXT NOT NULL,
  request_id INTEGER NOT NULL REFERENCES requests (id),
  PRIMARY KEY (access_id, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER action_keys_fixed BEFORE UPDATE ON action_keys
BEGIN SELECT RAISE(ABORT, 'a key stands for one request'); END;
