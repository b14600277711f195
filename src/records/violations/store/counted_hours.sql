-- The hours with rollups or places, each with a version: a random number that every change of the hour
-- replaces. Who keeps counts in memory reads an hour again when its version is another one.
CREATE TABLE counted_hours (
    hour INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
);
INSERT INTO counted_hours SELECT hour, random()
    FROM (SELECT hour FROM rollups UNION SELECT hour FROM rollup_places);

-- Violations without a record are rare, and each list of records tells their number.
CREATE INDEX rollups_unrecorded ON rollups (hour) WHERE folded > 0 OR dropped > 0;
