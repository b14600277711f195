-- A row for each record; the columns have the names of its fields. Times are milliseconds since 1970;
-- lists are JSON arrays. AUTOINCREMENT never reuses a sequence number, so that a follower misses no
-- record after old ones were removed.
CREATE TABLE violations (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    schema INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    site TEXT NOT NULL COLLATE NOCASE,
    client_ip TEXT NOT NULL,
    method TEXT NOT NULL,
    host TEXT NOT NULL,
    path TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    product_token TEXT NOT NULL COLLATE NOCASE,
    product_tokens TEXT NOT NULL,
    operator TEXT,
    purpose TEXT COLLATE NOCASE,
    standing TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    action TEXT NOT NULL COLLATE NOCASE,
    status INTEGER NOT NULL,
    robots_edition TEXT NOT NULL,
    robots_line INTEGER,
    robots_directive TEXT NOT NULL,
    robots_pattern TEXT NOT NULL,
    robots_group TEXT NOT NULL,
    robots_read_state TEXT NOT NULL,
    robots_read_edition TEXT,
    robots_read_at INTEGER
);
CREATE INDEX violations_by_time ON violations (time);
CREATE INDEX violations_by_site ON violations (site);
CREATE INDEX violations_by_product_token ON violations (product_token);

-- The latest robots.txt that each crawler fetched of each site.
CREATE TABLE fetches (
    site TEXT NOT NULL COLLATE NOCASE,
    product_token TEXT NOT NULL COLLATE NOCASE,
    edition TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (site, product_token)
);

-- The counts of records that were not kept.
CREATE TABLE overflow (
    site TEXT NOT NULL,
    product_token TEXT NOT NULL,
    rule TEXT NOT NULL,
    count INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
);
