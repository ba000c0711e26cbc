-- The searches of one scope are counted, and its oldest ones found, in the index alone: rows hold kilobytes of pools.
CREATE INDEX pool_searches_by_scope ON pool_searches (scope, searched_at_ms);
