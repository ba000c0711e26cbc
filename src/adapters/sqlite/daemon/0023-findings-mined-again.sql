-- A fill or an outflow is known by its place among those of its transaction, no longer by its place in the block: that is
-- another one when the same transaction is mined again, and what a person had accepted was found and counted once more.
UPDATE differences SET key = ranked.key FROM (
  SELECT id, kind || ' ' || wallet || ' ' || json_extract(facts, '$.hash') || coalesce(' ' || token, '') || ' #' ||
    (row_number() OVER (
      PARTITION BY kind, wallet, json_extract(facts, '$.hash'), token
      ORDER BY CAST(substr(key, length(kind) + 69) AS INTEGER)
    ) - 1) AS key
  FROM differences WHERE kind IN ('fill', 'outflow')
) AS ranked WHERE differences.id = ranked.id;
