-- The times in which each host belonged to a site; the present one has no end. A wildcard is
-- .example.com, and * is every host that no site names.
CREATE TABLE host_periods (
    sequence INTEGER PRIMARY KEY,
    host TEXT NOT NULL COLLATE NOCASE,
    site TEXT NOT NULL COLLATE NOCASE,
    from_ INTEGER NOT NULL,
    until_ INTEGER
);
CREATE UNIQUE INDEX host_periods_now ON host_periods (host) WHERE until_ IS NULL;
CREATE INDEX host_periods_by_end ON host_periods (until_);

-- The jumps of the clock; by_ is in milliseconds.
CREATE TABLE clock_leaps (
    at INTEGER NOT NULL,
    by_ INTEGER NOT NULL,
    UNIQUE (at, by_)
);
