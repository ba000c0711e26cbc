-- The newest checks of a swap, in one row: some forty of them were forty rows, and most of what a run weighed.
CREATE TABLE swap_checks (
  swap_id TEXT PRIMARY KEY REFERENCES swaps (id),
  at_ms INTEGER NOT NULL,
  -- compressed JSON: code, 1 for passed, value, bound of each; plain text where they were single rows
  body ANY NOT NULL
) STRICT;

INSERT INTO swap_checks (swap_id, at_ms, body)
SELECT swap_id, at_ms, json_group_array(json_array(code, passed, value, bound) ORDER BY position)
FROM checks JOIN (SELECT swap_id AS id, max(at_ms) AS newest_ms FROM checks GROUP BY swap_id)
  ON id = swap_id AND newest_ms = at_ms
GROUP BY swap_id;

DROP TABLE checks;
ALTER TABLE swap_checks RENAME TO checks;
