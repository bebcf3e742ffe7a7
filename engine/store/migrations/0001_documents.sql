CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sources (
	source INTEGER PRIMARY KEY,
	name   TEXT NOT NULL UNIQUE
);

CREATE TABLE documents (
	document INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	source   INTEGER NOT NULL REFERENCES sources,
	title    TEXT NOT NULL,
	text     TEXT NOT NULL,
	date     TEXT NOT NULL
);
CREATE INDEX documents_source ON documents (source);

CREATE TABLE document_meta (
	document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	key      TEXT NOT NULL,
	value    TEXT NOT NULL,
	PRIMARY KEY (document, key)
) WITHOUT ROWID;
CREATE INDEX document_meta_value ON document_meta (key, value, document);

-- A passage is documents.text[start_byte:end_byte]; its text is not kept twice.
CREATE TABLE chunks (
	chunk      INTEGER PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	document   INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	ordinal    INTEGER NOT NULL,
	start_byte INTEGER NOT NULL,
	end_byte   INTEGER NOT NULL,
	tokens     INTEGER NOT NULL, -- terms that the lexical analyzer makes of it, with its title
	UNIQUE (document, ordinal)
);

-- The totals that BM25 needs, kept exact by the triggers below.
CREATE TABLE totals (
	one    INTEGER PRIMARY KEY CHECK (one = 1),
	chunks INTEGER NOT NULL,
	tokens INTEGER NOT NULL
);
INSERT INTO totals VALUES (1, 0, 0);
CREATE TRIGGER chunks_insert AFTER INSERT ON chunks BEGIN
	UPDATE totals SET chunks = chunks + 1, tokens = tokens + new.tokens;
END;
CREATE TRIGGER chunks_delete AFTER DELETE ON chunks BEGIN
	UPDATE totals SET chunks = chunks - 1, tokens = tokens - old.tokens;
END;
CREATE TRIGGER chunks_update AFTER UPDATE OF tokens ON chunks BEGIN
	UPDATE totals SET tokens = tokens - old.tokens + new.tokens;
END;

CREATE TABLE models (
	model  INTEGER PRIMARY KEY,
	digest TEXT NOT NULL UNIQUE, -- over everything that info says
	info   TEXT NOT NULL         -- JSON
);

CREATE TABLE vectors (
	chunk     INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
	model     INTEGER NOT NULL REFERENCES models,
	tokens    INTEGER NOT NULL, -- before any cut; 0 when the model cannot tell
	truncated INTEGER NOT NULL,
	data      BLOB NOT NULL,    -- float32, little endian
	PRIMARY KEY (chunk, model)
);
CREATE INDEX vectors_model ON vectors (model);

CREATE TABLE skipped_steps (
	document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	step     TEXT NOT NULL,
	reason   TEXT NOT NULL,
	PRIMARY KEY (document, step, reason)
) WITHOUT ROWID;
