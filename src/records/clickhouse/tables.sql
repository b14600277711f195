-- The tables of version 1. ClickHouse 18.16 takes them, and current servers do. Times are milliseconds
-- since 1970; day is a day of UTC as a number (20261123), and a partition, so that old days are dropped
-- whole.

-- A row for each record. The sequence number has the time in its upper bits; a record that is sent again
-- has the same key, and replaces itself.
CREATE TABLE IF NOT EXISTS violations (
    day UInt32,
    sequence UInt64,
    schema UInt32,
    id String,
    time Int64,
    site String,
    client_ip String,
    method String,
    host String,
    path String,
    user_agent String,
    product_token String,
    product_tokens Array(String),
    operator Nullable(String),
    purpose Nullable(String),
    standing String,
    evidence Nullable(String),
    verdict String,
    reason String,
    action String,
    status UInt16,
    robots_edition String,
    robots_line Nullable(UInt32),
    robots_directive String,
    robots_pattern String,
    robots_group Array(String),
    robots_read_state String,
    robots_read_edition Nullable(String),
    robots_read_at Nullable(Int64)
) ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY (sequence, id);

-- The hours (since 1970) that have records of a site, a crawler, a purpose and an action. A question with
-- one of these looks here first, and reads no other hours. A view fills it.
CREATE TABLE IF NOT EXISTS record_hours (
    day UInt32,
    hour UInt32,
    site String,
    product_token String,
    purpose String,
    action String
) ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY (hour, site, product_token, purpose, action);

-- The days of records that were sent again. Until the server merges them, such a record may be there
-- twice, so questions to these days compare ids.
CREATE TABLE IF NOT EXISTS days_sent_again (
    day UInt32
) ENGINE = ReplacingMergeTree PARTITION BY day ORDER BY day;

-- The requests of a series in an hour: the whole count of one run of one node so far. A later batch
-- replaces an earlier one. Texts are empty and the line is 0 where there is none.
CREATE TABLE IF NOT EXISTS counts (
    day UInt32,
    hour Int64,
    site String,
    class String,
    product_token String,
    purpose String,
    standing String,
    verdict String,
    action String,
    reason String,
    robots_edition String,
    robots_line UInt32,
    robots_directive String,
    robots_pattern String,
    read_state String,
    series Int64 MATERIALIZED toInt64(bitShiftRight(cityHash64(site, class, product_token, purpose,
        standing, verdict, action, reason, robots_edition, robots_line, robots_directive,
        robots_pattern, read_state), 1)),
    node String,
    run String,
    batch UInt64,
    requests UInt64,
    folded UInt64,
    dropped UInt64
) ENGINE = ReplacingMergeTree(batch) PARTITION BY day ORDER BY (
    hour, site, product_token, purpose, class, standing, verdict, action, reason, robots_edition,
    robots_line, robots_directive, robots_pattern, read_state, node, run
);

-- The paths and the networks of violations.
CREATE TABLE IF NOT EXISTS places (
    day UInt32,
    hour Int64,
    kind String,
    site String,
    product_token String,
    place String,
    node String,
    run String,
    batch UInt64,
    violations UInt64
) ENGINE = ReplacingMergeTree(batch) PARTITION BY day
ORDER BY (hour, kind, site, product_token, place, node, run);

-- Requests of people.
CREATE TABLE IF NOT EXISTS people (
    day UInt32,
    hour Int64,
    site String,
    node String,
    run String,
    batch UInt64,
    requests UInt64
) ENGINE = ReplacingMergeTree(batch) PARTITION BY day ORDER BY (hour, site, node, run);

-- Visits of people that a link of an operator of crawlers led to the site.
CREATE TABLE IF NOT EXISTS referrals (
    day UInt32,
    hour Int64,
    site String,
    operator String,
    node String,
    run String,
    batch UInt64,
    visits UInt64
) ENGINE = ReplacingMergeTree(batch) PARTITION BY day ORDER BY (hour, site, operator, node, run);

-- The hours that counts and places were written of, with the last batch of each run. Written behind
-- them: who keeps an hour in memory reads it again when this has changed.
CREATE TABLE IF NOT EXISTS counted_hours (
    day UInt32,
    hour Int64,
    node String,
    run String,
    batch UInt64
) ENGINE = ReplacingMergeTree(batch) PARTITION BY intDiv(day, 100) ORDER BY (hour, node, run);

-- The counts of records that were not kept, by batch.
CREATE TABLE IF NOT EXISTS overflow (
    day UInt32,
    site String,
    product_token String,
    rule String,
    node String,
    run String,
    batch UInt64,
    count UInt64,
    first Int64,
    last Int64
) ENGINE = ReplacingMergeTree PARTITION BY intDiv(day, 100)
ORDER BY (site, product_token, rule, node, run, batch);

-- The published states of robots.txt files, each once; the bytes are hexadecimal digits.
CREATE TABLE IF NOT EXISTS editions (
    id String,
    sha256 String,
    hex String
) ENGINE = ReplacingMergeTree ORDER BY (sha256, id);

-- The times at which each node began to serve an edition of a site. The next one of the same node and
-- site ends it. place is the place in the batch.
CREATE TABLE IF NOT EXISTS publications (
    site String,
    edition String,
    source String,
    from_ Int64,
    node String,
    run String,
    batch UInt64,
    place UInt32
) ENGINE = ReplacingMergeTree ORDER BY (site, node, from_, run, batch, place)
