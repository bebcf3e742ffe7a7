package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
	"github.com/touchstone-eval/touchstone/evaltests/strict"
)

// Options say where content lies that is not beside pack.toml.
type Options struct {
	Packs    string // EVAL_PACKS: the folder of external packs; empty means there is none
	ModCache string // the Go module cache of format godoc; empty means the go command's own
	Format   string // for a folder without pack.toml; empty means told by its files
}

// File is one file that a loader read, as the lock pins it.
type File struct {
	Path   string `json:"path"` // below the content folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Pack is a loaded pack. Documents and cases are in the order of the source.
type Pack struct {
	Manifest  Manifest
	Dir       string // the folder of pack.toml, or of the raw content
	Content   string // the folder the content was read from
	Loader    string // name and version of the loader, for instance "beir/1"
	Documents []Document
	Cases     []Case
	Files     []File       // what was read, by path
	Fields    []FieldTruth // what fields of documents say, in packs that probe them
	Types     []TypeTruth  // the types of documents, in packs that probe them
	scanned   *scanned
	content   string         // the digest, where Documents are not all of the pack
	caseAt    map[string]int // case id -> index in Cases
	docIndex  map[string]int32
	caseSpots spots
	docSpots  spots
	Defects   []Finding // what the source got wrong and the loader could not repair, in the order of the source
}

// NotHereError says that a pack's content is not on this machine. It is not a
// defect of the pack: a suite over it is "not run".
type NotHereError struct {
	Pack   string
	Reason string // what was looked for, and what to do
}

func (e *NotHereError) Error() string { return fmt.Sprintf("pack %s: not here: %s", e.Pack, e.Reason) }

// loader reads one format from the content folder.
type loader struct {
	version int
	read    func(c *content) error
	// marker is a file that tells the format of a folder without pack.toml.
	marker string
	// splits are what split may be in pack.toml, the default first.
	splits []string
	// streams says that documents are handed on one by one and never looked at
	// again, so that a corpus need not fit into memory to be pinned.
	streams bool
}

var loaders = map[string]loader{
	"beir":        {version: 1, read: readBEIR, marker: "queries.jsonl", splits: beirSplits, streams: true},
	"cases":       {version: 1, read: readCases},
	"clapnq":      {version: 1, read: readClapNQ, marker: clapnqAnswerable},
	"folder":      {version: 1, read: readFolder, marker: corpusFile},
	"godoc":       {version: 1, read: readGodoc},
	"hotpotqa":    {version: 1, read: readHotpotQA, marker: hotpotFile},
	"jsonl":       {version: 1, read: readEvalJSONL},
	"locomo":      {version: 1, read: readLoCoMo, marker: locomoFile, splits: []string{"turns", "observations"}},
	"longmemeval": {version: 1, read: readLongMemEval, marker: "longmemeval_s.json"},
	"manifest":    {version: 1, read: readManifestPack, marker: fixtureManifest},
	"multihoprag": {version: 1, read: readMultiHopRAG},
	"qasper":      {version: 1, read: readQASPER},
	"scifact":     {version: 1, read: readSciFact, marker: "corpus_train.csv", splits: []string{"validation", "train"}},
	"smart":       {version: 1, read: readSMART, marker: smartDocuments},
	"squad2":      {version: 1, read: readSQuAD2},
	"trec":        {version: 1, read: readTREC, splits: []string{"title", "description"}},
}

// Formats lists the format names that pack.toml may carry.
func Formats() []string {
	var names []string
	for name := range loaders {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Load reads the pack in dir: a folder with pack.toml, or a raw folder whose
// format is given or told by its files. It returns the whole pack or an error
// that starts with the place.
func Load(dir string, o Options) (*Pack, error) { return read(dir, o, nil) }

func read(dir string, o Options, spill *scanned) (*Pack, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: no such folder; give a folder with %s or raw data", dir, ManifestFile)
	}
	m, err := manifestFor(dir, o.Format)
	if err != nil {
		return nil, err
	}
	at := dir
	if m.External && isPack(dir) {
		if at, err = externalFolder(m, o); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := loaders[m.Format]
	c := &content{manifest: m, dir: at, root: root, options: o}
	if spill != nil && l.streams {
		c.scan = spill
	}
	if err := l.read(c); err != nil {
		return nil, err
	}
	if c.scan != nil {
		if err := c.scan.sort(); err != nil {
			return nil, err
		}
	}
	if err := c.notEmpty(); err != nil {
		return nil, err
	}
	if err := c.link(); err != nil {
		return nil, err
	}
	if err := c.contested(dir); err != nil {
		return nil, err
	}
	sort.Slice(c.files, func(i, j int) bool { return c.files[i].Path < c.files[j].Path })
	p := &Pack{
		Manifest:  m,
		Dir:       dir,
		Content:   at,
		Loader:    fmt.Sprintf("%s/%d", m.Format, l.version),
		Documents: c.documents,
		Cases:     c.cases,
		Files:     c.files,
		Defects:   c.defects,
		Fields:    c.fields,
		Types:     c.types,
		caseAt:    c.caseAt,
		docIndex:  c.docIndex,
		caseSpots: c.caseSpots,
		docSpots:  c.docSpots,
	}
	p.scanned = c.scan
	return p, nil
}

func manifestFor(dir, format string) (Manifest, error) {
	if isPack(dir) {
		m, err := ReadManifest(dir)
		if err == nil && format != "" && format != m.Format {
			err = fmt.Errorf("%s: format %s was asked for, but the pack says %s",
				filepath.Join(dir, ManifestFile), format, m.Format)
		}
		return m, err
	}
	if format == "" {
		for _, name := range Formats() {
			marker := loaders[name].marker
			if marker == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, marker)); err == nil {
				format = name
				break
			}
		}
	}
	if _, ok := loaders[format]; !ok {
		if format == "" {
			return Manifest{}, fmt.Errorf("%s: no %s, and its files do not tell the format; name it, one of %v", dir, ManifestFile, Formats())
		}
		return Manifest{}, fmt.Errorf("%s: format %q is not known; want one of %v", dir, format, Formats())
	}
	return Manifest{
		Name: rawName(dir), Version: "raw", Unit: "document", Format: format,
		Role: "benchmark", Authored: "external",
	}, nil
}

// rawName makes a pack name of a folder's name.
func rawName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, filepath.Base(dir))
	if name = strings.Trim(name, "-."); name == "" {
		return "raw"
	}
	return name
}

func externalFolder(m Manifest, o Options) (string, error) {
	if o.Packs == "" {
		return "", &NotHereError{Pack: m.Name, Reason: "EVAL_PACKS is not set; set it to the folder that holds " + m.folder() + "/"}
	}
	if info, err := os.Stat(o.Packs); err != nil || !info.IsDir() {
		// A variable that is set but names nothing is a mistake, not an absence.
		return "", fmt.Errorf("EVAL_PACKS=%s: no such folder; unset it or correct it", o.Packs)
	}
	folder := m.folder()
	at := filepath.Join(o.Packs, folder)
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &NotHereError{Pack: m.Name, Reason: fmt.Sprintf("EVAL_PACKS has no folder %s/", folder)}
	case err != nil:
		return "", fmt.Errorf("EVAL_PACKS=%s: %w", o.Packs, err)
	case !info.IsDir():
		return "", fmt.Errorf("EVAL_PACKS=%s: %s is no folder; want the folder that holds the pack", o.Packs, folder)
	}
	return at, nil
}

// content collects what a loader reads and where each id came from.
type content struct {
	manifest  Manifest
	dir       string
	root      *os.Root
	options   Options
	documents []Document
	cases     []Case
	files     []File
	docIndex  map[string]int32 // document id -> its number, in the order of the source
	docSpots  spots
	caseAt    map[string]int // case id -> index in cases
	caseSpots spots
	gold      []goldLine
	goldSpots spots
	scan      *scanned          // takes the documents instead of documents, if set
	alias     map[string]string // other ids of a document -> its id
	defects   []Finding
	groupAt   map[string]string // group -> file:line
	fields    []FieldTruth
	types     []TypeTruth
}

type goldLine struct {
	caseID, docID string
	grade         int
}

// place names a line of a content file as people will look for it.
func (c *content) place(file string, line int) string {
	return fmt.Sprintf("%s:%d", filepath.Join(c.dir, filepath.FromSlash(file)), line)
}

// below is a place relative to the content folder, the same on every machine.
func (c *content) below(place string) string {
	return filepath.ToSlash(strings.TrimPrefix(place, c.dir+string(filepath.Separator)))
}

// glob lists the regular files of the content folder that take accepts, in
// byte order, without those below folders. A link is listed, since leaving it
// out would drop what it should hold.
func (c *content) glob(take func(file string) bool) ([]string, error) {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.dir, err)
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && take(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// tree lists the files of the content folder and below that take accepts by
// the first part of their path, in byte order of the paths. What starts with a
// dot is not content.
func (c *content) tree(take func(top string) bool) ([]string, error) {
	var out []string
	err := fs.WalkDir(c.root.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == "." {
			return err
		}
		top, _, _ := strings.Cut(file, "/")
		if strings.HasPrefix(d.Name(), ".") || !take(top) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() {
			out = append(out, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.dir, err)
	}
	slices.Sort(out)
	return out, nil
}

// open reads a content file whole and notes its digest. The root keeps links
// and ".." inside the content folder.
func (c *content) open(file string) ([]byte, error) {
	data, err := c.readFile(filepath.FromSlash(file))
	if err != nil {
		return nil, c.unreadable(file, err)
	}
	c.files = append(c.files, File{Path: file, Bytes: int64(len(data)), SHA256: digest.Bytes(data)})
	return data, nil
}

func (c *content) readFile(path string) ([]byte, error) {
	in, err := c.openRegular(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// lines reads a content file line by line and notes its digest, without
// holding it: a corpus may be larger than memory.
func (c *content) lines(file string, f func(place string, line int, text []byte) error) error {
	path := filepath.FromSlash(file)
	in, err := c.openRegular(path)
	if err != nil {
		return c.unreadable(file, err)
	}
	defer in.Close()
	sum := sha256.New()
	count := &counter{}
	var placed error // an error of f that says itself where
	err = strict.Lines(c.file(file), io.TeeReader(in, io.MultiWriter(sum, count)), func(line int, text []byte) error {
		err := f(c.place(file, line), line, text)
		if err != nil && strings.HasPrefix(err.Error(), c.file(file)+":") {
			placed = err
		}
		return err
	})
	if placed != nil {
		return placed
	}
	if err != nil {
		return err
	}
	c.files = append(c.files, File{Path: file, Bytes: count.n, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func (c *content) openRegular(path string) (*os.File, error) {
	info, err := c.root.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file") // reading a pipe would wait for ever
	}
	return c.root.Open(path)
}

// exists reports whether a content file is there. A link that cannot be
// followed is there: taking it for absent would drop what it should hold.
func (c *content) exists(file string) bool {
	_, err := c.root.Lstat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}

func (c *content) addDocument(place string, d Document) error {
	if d.ID == "" {
		return fmt.Errorf("%s: document without an id", place)
	}
	if err := printable("document id", d.ID); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if err := printable("group", d.Group); err != nil {
		return fmt.Errorf("%s: document %q: %w", place, d.ID, err)
	}
	if c.scan != nil {
		return c.scan.add(place, d)
	}
	if first, ok := c.documentAt(d.ID); ok {
		return fmt.Errorf("%s: document id %q was given before, at %s; ids must be unique", place, d.ID, first)
	}
	if c.docIndex == nil {
		c.docIndex = map[string]int32{}
	}
	c.docIndex[d.ID] = int32(len(c.docSpots.at))
	c.docSpots.add(place)
	c.documents = append(c.documents, d)
	return nil
}

// known returns the one string that is the id of a document.
func (c *content) known(id string) (string, bool) {
	if c.scan != nil {
		return c.scan.find(id)
	}
	at, ok := c.docIndex[id]
	if !ok {
		return "", false
	}
	return c.documents[at].ID, true
}

// documentAt is the place of a document.
func (c *content) documentAt(id string) (string, bool) {
	i, ok := c.docIndex[id]
	if !ok {
		return "", false
	}
	return c.docSpots.place(int(i)), true
}

func (c *content) addCase(place string, k Case) error {
	if k.Question.ID == "" {
		return fmt.Errorf("%s: question without an id", place)
	}
	if err := printable("case id", k.Question.ID); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if err := printable("group", k.Group); err != nil {
		return fmt.Errorf("%s: question %q: %w", place, k.Question.ID, err)
	}
	if strings.TrimSpace(k.Question.Text) == "" {
		return fmt.Errorf("%s: question %q has no text", place, k.Question.ID)
	}
	if i, ok := c.caseAt[k.Question.ID]; ok {
		return fmt.Errorf("%s: case id %q was given before, at %s; ids must be unique", place, k.Question.ID, c.caseSpots.place(i))
	}
	if c.caseAt == nil {
		c.caseAt = map[string]int{}
	}
	if k.Gold.Grades == nil {
		k.Gold.Grades = map[string]int{}
	}
	c.caseAt[k.Question.ID] = len(c.cases)
	c.caseSpots.add(place)
	c.cases = append(c.cases, k)
	return nil
}

// addGold notes a judgement; link resolves it when all ids are known.
func (c *content) addGold(place, caseID, docID string, grade int) {
	c.gold = append(c.gold, goldLine{caseID, docID, grade})
	c.goldSpots.add(place)
}

// link joins judgements to cases and documents, and refuses the ones that
// name nothing: a misspelt gold id would only ever look like a miss.
func (c *content) link() error {
	if err := c.linkGold(); err != nil {
		return err
	}
	c.gold, c.goldSpots = nil, spots{}
	for i, k := range c.cases {
		if err := c.checkCase(k); err != nil {
			return fmt.Errorf("%s: question %q %w", c.caseSpots.place(i), k.Question.ID, err)
		}
		if k.Stratum != "" && len(c.manifest.Strata) > 0 && !slices.Contains(c.manifest.Strata, k.Stratum) {
			return fmt.Errorf("%s: stratum %q is not among those of pack.toml %v", c.caseSpots.place(i), k.Stratum, c.manifest.Strata)
		}
		if k.Stratum == "" {
			c.cases[i].Stratum = "all"
		}
	}
	return nil
}

func (c *content) linkGold() error {
	if err := c.soundGrades(); err != nil {
		return err
	}
	named := map[string]bool{} // with aliases only: the ids that judged a document of a case
	for n, g := range c.gold {
		i, ok := c.caseAt[g.caseID]
		if !ok {
			return fmt.Errorf("%s: gold for question %q, which is not among the questions", c.goldSpots.place(n), g.caseID)
		}
		id := g.docID
		if kept, ok := c.alias[id]; ok {
			id = kept
		}
		id, ok = c.known(id) // one string for an id, however often it is judged
		if !ok {
			return fmt.Errorf("%s: gold id %q of question %q is not in the corpus", c.goldSpots.place(n), g.docID, g.caseID)
		}
		grades := c.cases[i].Gold.Grades
		// Aliases of one document may each be judged, if they agree.
		old, twice := grades[id]
		again := twice && c.alias == nil
		if c.alias != nil {
			key := g.caseID + "\x00" + g.docID
			again, named[key] = named[key], true
		}
		if again || twice && old != g.grade {
			return fmt.Errorf("%s: question %q judges document %q twice (%d and %d)", c.goldSpots.place(n), g.caseID, id, old, g.grade)
		}
		grades[id] = g.grade
	}
	return nil
}

// checkCase says what is wrong with a case whose gold is known.
func (c *content) checkCase(k Case) error {
	g := k.Gold
	switch relevant := g.Relevant(); {
	case g.Answerable && relevant == 0 && k.Unjudged == "":
		return errors.New("has no relevant document and is not marked unanswerable")
	case !g.Answerable && relevant > 0:
		return errors.New("is marked unanswerable but has gold")
	case relevant > 0 && k.Unjudged != "":
		return errors.New("is marked unjudged but has gold")
	}
	for _, id := range g.Sources {
		if _, ok := c.known(id); !ok {
			return fmt.Errorf("expects the source %q, which is not in the corpus", id)
		}
	}
	for _, e := range g.Evidence {
		if _, ok := c.known(e.Document); e.Document != "" && !ok {
			return fmt.Errorf("has evidence in %q, which is not in the corpus", e.Document)
		}
	}
	return nil
}
