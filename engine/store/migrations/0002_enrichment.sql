-- By which rules a document was enriched; a document without a row is enriched
-- when the store is opened next.
CREATE TABLE enrichments (
	document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
	version  TEXT NOT NULL
);

-- When documents were written. An episode is a run of documents of one source
-- without a long gap; it depends on what else is stored, and so is not kept.
CREATE TABLE moments (
	document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
	source   INTEGER NOT NULL REFERENCES sources,
	id       TEXT NOT NULL,    -- of the document, which orders equal times
	seconds  INTEGER NOT NULL  -- Unix time
);
CREATE INDEX moments_order ON moments (source, seconds, id);

-- Days are counted from 1970-01-01.
CREATE TABLE event_dates (
	document   INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	in_title   INTEGER NOT NULL, -- the bytes are those of the title
	start_byte INTEGER NOT NULL,
	end_byte   INTEGER NOT NULL,
	first_day  INTEGER NOT NULL,
	last_day   INTEGER NOT NULL,
	PRIMARY KEY (document, in_title, start_byte)
) WITHOUT ROWID;
CREATE INDEX event_dates_days ON event_dates (first_day, last_day);

CREATE TABLE entities (
	entity    INTEGER PRIMARY KEY,
	kind      TEXT NOT NULL,
	name      TEXT NOT NULL,
	documents INTEGER NOT NULL DEFAULT 0, -- kept exact by the triggers below
	UNIQUE (kind, name)
);
CREATE TABLE mentions (
	document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	entity   INTEGER NOT NULL REFERENCES entities,
	times    INTEGER NOT NULL,
	PRIMARY KEY (document, entity)
) WITHOUT ROWID;
CREATE INDEX mentions_entity ON mentions (entity);
CREATE TRIGGER mentions_insert AFTER INSERT ON mentions BEGIN
	UPDATE entities SET documents = documents + 1 WHERE entity = new.entity;
END;
CREATE TRIGGER mentions_delete AFTER DELETE ON mentions BEGIN
	UPDATE entities SET documents = documents - 1 WHERE entity = old.entity;
	DELETE FROM entities WHERE entity = old.entity AND documents = 0;
END;

-- What a document may be called by others. An id comes before an alias.
CREATE TABLE names (
	document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	name     TEXT NOT NULL,
	alias    INTEGER NOT NULL,
	PRIMARY KEY (document, name)
) WITHOUT ROWID;
CREATE INDEX names_name ON names (name);

-- Sections with one title, of whatever documents, are a page.
CREATE TABLE pages (
	page  INTEGER PRIMARY KEY,
	title TEXT NOT NULL UNIQUE
);
CREATE TABLE sections (
	section    INTEGER PRIMARY KEY,
	page       INTEGER NOT NULL REFERENCES pages,
	document   INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	ordinal    INTEGER NOT NULL,
	start_byte INTEGER NOT NULL,
	end_byte   INTEGER NOT NULL,
	tokens     INTEGER NOT NULL, -- terms, with repetitions
	UNIQUE (document, ordinal)
);
CREATE INDEX sections_page ON sections (page);
CREATE TABLE section_terms (
	section INTEGER NOT NULL REFERENCES sections ON DELETE CASCADE,
	term    TEXT NOT NULL,
	times   INTEGER NOT NULL,
	PRIMARY KEY (section, term)
) WITHOUT ROWID;
CREATE INDEX section_terms_term ON section_terms (term);
CREATE TRIGGER sections_delete AFTER DELETE ON sections BEGIN
	DELETE FROM pages WHERE page = old.page AND NOT EXISTS (SELECT 1 FROM sections WHERE page = old.page);
END;

-- Where documents point to others, by name: the other may come later.
CREATE TABLE document_references (
	document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
	ordinal  INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	target   TEXT NOT NULL,
	section  INTEGER REFERENCES sections ON DELETE SET NULL, -- that it stands in
	PRIMARY KEY (document, ordinal)
) WITHOUT ROWID;
CREATE INDEX document_references_target ON document_references (target);
CREATE INDEX document_references_section ON document_references (section);
