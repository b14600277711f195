-- What the origins of each site answered last about the forms of paths; why is the reason why nothing is
-- known.
CREATE TABLE probed (
    site TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
    question TEXT NOT NULL,
    at INTEGER NOT NULL,
    why TEXT,
    taken TEXT NOT NULL,
    not_taken TEXT NOT NULL,
    case_insensitive INTEGER NOT NULL,
    decode_depth INTEGER NOT NULL
);
