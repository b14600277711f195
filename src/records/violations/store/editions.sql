-- The history that judgements need after a restart. Times are milliseconds since 1970. An edition is
-- named by the first 16 hexadecimal digits of its hash.

-- The published states of robots.txt files, each once, for any number of sites and periods.
CREATE TABLE editions (
    id TEXT PRIMARY KEY NOT NULL,
    sha256 TEXT NOT NULL,
    bytes BLOB NOT NULL
);

-- The periods of each edition in force for a site; the present period has no end. For a merged
-- edition, base is the origin's part, which is merged again when the policy changes.
CREATE TABLE edition_periods (
    sequence INTEGER PRIMARY KEY,
    site TEXT NOT NULL COLLATE NOCASE,
    edition TEXT NOT NULL,
    source TEXT NOT NULL,
    from_ INTEGER NOT NULL,
    until_ INTEGER,
    base BLOB
);
CREATE UNIQUE INDEX edition_periods_in_force ON edition_periods (site) WHERE until_ IS NULL;
CREATE INDEX edition_periods_by_edition ON edition_periods (edition);
CREATE INDEX edition_periods_by_end ON edition_periods (until_);

-- The time of the last record that names an edition. It saves two indexes on all records.
CREATE TABLE edition_mentions (
    edition TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL
);
INSERT INTO edition_mentions (edition, last)
    SELECT edition, max(time) FROM (
        SELECT robots_edition AS edition, time FROM violations
        UNION ALL
        SELECT robots_read_edition, time FROM violations WHERE robots_read_edition IS NOT NULL
    ) GROUP BY edition;

-- Quarantined files of origins, which are published only after an operator accepts them.
CREATE TABLE held_robots (
    site TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
    id TEXT NOT NULL,
    bytes BLOB NOT NULL,
    since INTEGER NOT NULL,
    accepted INTEGER
);

-- Each crawler's fetches of each site's robots.txt from each network; the usual interval is in
-- seconds. The old table had only the latest fetch of each crawler.
ALTER TABLE fetches RENAME TO fetches_by_token;
CREATE TABLE fetches (
    site TEXT NOT NULL COLLATE NOCASE,
    product_token TEXT NOT NULL COLLATE NOCASE,
    network TEXT NOT NULL,
    standing TEXT NOT NULL,
    edition TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    interval INTEGER,
    PRIMARY KEY (site, product_token, network)
);
INSERT INTO fetches (site, product_token, network, standing, edition, first, last, count)
    SELECT site, product_token, '-', 'unknown', edition, at, at, 1 FROM fetches_by_token;
DROP TABLE fetches_by_token;
CREATE INDEX fetches_by_last ON fetches (last);
