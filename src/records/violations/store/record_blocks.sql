-- Summaries of records, which keep searches fast on millions of them. All of this is derived: the
-- writer adds it a piece at a time, and a search reads the records where a summary is missing.

-- What the records of a range of sequence numbers have. A removal leaves gaps. The combinations of names
-- (site, product token, purpose and action) are packed; names_of tells the combination of each record.
-- A block with an unreadable record has no names and no paths.
CREATE TABLE record_blocks (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    records INTEGER NOT NULL,
    earliest INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    is_readable INTEGER NOT NULL,
    has_gaps INTEGER NOT NULL,
    path_bytes INTEGER NOT NULL,
    names BLOB,
    names_of BLOB
);

-- Their paths, packed, and the path of each record.
CREATE TABLE record_block_paths (
    first INTEGER PRIMARY KEY,
    paths BLOB NOT NULL,
    paths_of BLOB NOT NULL
);

CREATE TRIGGER violations_removed AFTER DELETE ON violations BEGIN
    UPDATE record_blocks SET has_gaps = 1
        WHERE first = (SELECT max(first) FROM record_blocks WHERE first <= old.sequence)
        AND last >= old.sequence AND NOT has_gaps;
END;

-- Beadle changes no record. If someone does, the summary is made anew.
CREATE TRIGGER violations_changed
    AFTER UPDATE OF sequence, time, site, product_token, purpose, action, path ON violations
BEGIN
    DELETE FROM record_blocks WHERE last >= old.sequence
        AND first = (SELECT max(first) FROM record_blocks WHERE first <= old.sequence);
    DELETE FROM record_blocks WHERE last >= new.sequence
        AND first = (SELECT max(first) FROM record_blocks WHERE first <= new.sequence);
END;

CREATE TRIGGER record_blocks_removed AFTER DELETE ON record_blocks BEGIN
    DELETE FROM record_block_paths WHERE first = old.first;
END;
