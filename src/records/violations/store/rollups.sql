-- Requests counted by hour: those of crawlers and other programs by series, those of people by site.
-- An hour is named by its first millisecond since 1970.

-- The combinations of values that requests are counted under, each once. Texts are empty and the line
-- is 0 where there is none: a unique index takes no two NULL for equal.
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL COLLATE NOCASE,
    class TEXT NOT NULL,
    product_token TEXT NOT NULL COLLATE NOCASE,
    purpose TEXT NOT NULL COLLATE NOCASE,
    standing TEXT NOT NULL,
    verdict TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    robots_edition TEXT NOT NULL,
    robots_line INTEGER NOT NULL,
    robots_directive TEXT NOT NULL,
    robots_pattern TEXT NOT NULL,
    read_state TEXT NOT NULL,
    -- the last hour that has a rollup of it
    last INTEGER NOT NULL,
    UNIQUE (
        site, product_token, reason, action, robots_edition, robots_line, robots_pattern,
        robots_directive, standing, verdict, class, purpose, read_state
    )
);

-- The requests of a series in an hour. Of violations, some have no row of their own: the folded ones
-- are beyond violations.detail, the dropped ones found no room in the queue.
CREATE TABLE rollups (
    hour INTEGER NOT NULL,
    series INTEGER NOT NULL REFERENCES series (id),
    requests INTEGER NOT NULL,
    folded INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    PRIMARY KEY (hour, series)
) WITHOUT ROWID;

-- The paths that violations requested (path), without queries, and the networks that they came from
-- (network). Each hour has a limited number; … stands for the rest.
CREATE TABLE rollup_places (
    hour INTEGER NOT NULL,
    kind TEXT NOT NULL,
    site TEXT NOT NULL COLLATE NOCASE,
    product_token TEXT NOT NULL COLLATE NOCASE,
    place TEXT NOT NULL,
    violations INTEGER NOT NULL,
    PRIMARY KEY (hour, kind, site, product_token, place)
) WITHOUT ROWID;

-- Requests of people, as one number.
CREATE TABLE people (
    hour INTEGER NOT NULL,
    site TEXT NOT NULL COLLATE NOCASE,
    requests INTEGER NOT NULL,
    PRIMARY KEY (hour, site)
) WITHOUT ROWID;

-- Visits of people that a link of an operator of crawlers led to the site.
CREATE TABLE referrals (
    hour INTEGER NOT NULL,
    site TEXT NOT NULL COLLATE NOCASE,
    operator TEXT NOT NULL COLLATE NOCASE,
    visits INTEGER NOT NULL,
    PRIMARY KEY (hour, site, operator)
) WITHOUT ROWID;

-- The last batch of counts from each run of the program. A batch whose fate a failure left open comes
-- again, and counts once.
CREATE TABLE rollup_batches (
    run TEXT PRIMARY KEY NOT NULL,
    batch INTEGER NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;
