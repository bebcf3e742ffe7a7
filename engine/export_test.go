package engine

// BreakLexical makes the lexical arm fail as after a write that it lacks.
func (e *Engine) BreakLexical(err error) { e.behind = err }

// Names of the engine's files, for tests that damage them.
const (
	StoreFile  = storeFile
	LexicalDir = lexicalDir
)
