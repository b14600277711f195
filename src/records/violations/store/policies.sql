-- Each policy that came into force, as often as it did. The newest has the highest id.
CREATE TABLE policy_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    by_ TEXT NOT NULL,
    sha256 TEXT NOT NULL
);

-- Their files, each once.
CREATE TABLE policy_files (
    sha256 TEXT PRIMARY KEY NOT NULL,
    bytes BLOB NOT NULL
);
