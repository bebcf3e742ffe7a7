package pack

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Keys of [Document.Meta] that the godoc format sets.
const (
	MetaAliases = "aliases" // ids of the symbols with the same comment, separated by one space
	MetaModule  = "module"  // module path, without the version
	MetaPackage = "package" // import path
	MetaKind    = "kind"    // package, const, var, type, func or method
)

// minGodocChars leaves out comments that say no more than the name does.
const minGodocChars = 80

// MissingModulesError says that modules of a godoc pack are not in the module
// cache. It is no defect of the subject: a suite that meets it could not be
// measured.
type MissingModulesError struct {
	Modules []string // path@version, in the order of go.mod
	Dir     string   // the folder with the go.mod that pins them
	Cache   string   // the module cache that was looked in
}

func (e *MissingModulesError) Error() string {
	return fmt.Sprintf("%s: not in the module cache %s: %s; run `%s`, or set GOMODCACHE if they are elsewhere",
		filepath.Join(e.Dir, "go.mod"), e.Cache, strings.Join(e.Modules, ", "), e.Command())
}

// Command is the shell command that brings the missing modules.
func (e *MissingModulesError) Command() string {
	return "cd " + shellQuote(e.Dir) + " && go mod download"
}

func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// LoadGodoc reads the documentation comments of the modules that dir/go.mod
// requires out of the module cache modcache, or of [ModuleCache] if it is
// empty. No code is built and nothing is downloaded; if a module is not there
// the error is a [*MissingModulesError].
//
// A document is the comment of one exported top-level symbol: a package, const,
// var, type, func, or a method of an exported type. Its id is
// "import/path.Symbol", "import/path.Type.Method", or "import/path" for a
// package. Left out are folders named testdata, internal or vendor or whose
// name starts with "." or "_", _test.go files, files of package main,
// comments under 80 characters, and licence headers that stand where a package
// comment would. All files count whatever their build constraints, so the
// corpus is the same on every platform; of a symbol with several comments the
// first counts, in byte order of file names. Symbols with the same comment are
// one document, under their first id in byte order, with the others in
// Meta[MetaAliases].
func LoadGodoc(dir, modcache string) ([]Document, error) {
	if modcache == "" {
		var err error
		if modcache, err = ModuleCache(); err != nil {
			return nil, err
		}
	}
	modules, err := readRequires(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	missing := &MissingModulesError{Dir: dir, Cache: modcache}
	var files []goFile
	for _, m := range modules {
		folder, err := moduleFolder(modcache, m)
		if err != nil {
			return nil, err
		}
		if folder == "" {
			missing.Modules = append(missing.Modules, m.String())
			continue
		}
		found, err := goFiles(m, folder)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(missing.Modules) > 0 {
		return nil, missing
	}
	comments, err := readComments(files)
	if err != nil {
		return nil, err
	}
	return foldDuplicates(comments), nil
}

// Aliases maps each alias in docs to the id of the document that stands for
// it. An id that is a document of its own is not in the map.
func Aliases(docs []Document) map[string]string {
	kept := map[string]string{}
	for _, d := range docs {
		for alias := range strings.FieldsSeq(d.Meta[MetaAliases]) {
			kept[alias] = d.ID
		}
	}
	return kept
}

// ModuleCache is the folder that the go command keeps modules in: GOMODCACHE,
// from the environment or from the file that `go env -w` writes, else pkg/mod
// in the first folder of GOPATH, else in go in the home folder.
func ModuleCache() (string, error) {
	saved := savedGoEnv()
	get := func(key string) string { return cmp.Or(os.Getenv(key), saved[key]) }
	if dir := get("GOMODCACHE"); dir != "" {
		return dir, nil
	}
	if list := filepath.SplitList(get("GOPATH")); len(list) > 0 && list[0] != "" {
		return filepath.Join(list[0], "pkg", "mod"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("module cache: no home folder (%w); set GOMODCACHE", err)
	}
	return filepath.Join(home, "go", "pkg", "mod"), nil
}

// savedGoEnv reads the file of `go env -w`. It is optional, as it is for the
// go command.
func savedGoEnv() map[string]string {
	name := os.Getenv("GOENV")
	if name == "off" {
		return nil
	}
	if name == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil
		}
		name = filepath.Join(dir, "go", "env")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	saved := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			saved[key] = value
		}
	}
	return saved
}

// readRequires reads a go.mod that holds module, go and require directives.
// Any other directive is an error: a replace would put other text under the
// same version.
func readRequires(name string) ([]module.Version, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("godoc pack: %w", err)
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w; expected a go.mod with module, go and require", err)
	}
	for _, stmt := range file.Syntax.Stmt {
		if verb, line := directive(stmt); !slices.Contains([]string{"", "module", "go", "require"}, verb) {
			return nil, fmt.Errorf("%s:%d: found directive %q; a corpus go.mod holds module, go and require only", name, line, verb)
		}
	}
	var modules []module.Version
	seen := map[string]bool{}
	for _, r := range file.Require {
		if seen[r.Mod.Path] {
			return nil, fmt.Errorf("%s:%d: module %s is required twice; keep one line", name, r.Syntax.Start.Line, r.Mod.Path)
		}
		seen[r.Mod.Path] = true
		modules = append(modules, r.Mod)
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("%s: requires no module; a godoc pack needs at least one", name)
	}
	return modules, nil
}

func directive(stmt modfile.Expr) (verb string, line int) {
	start, _ := stmt.Span()
	switch x := stmt.(type) {
	case *modfile.Line:
		return x.Token[0], start.Line
	case *modfile.LineBlock:
		return x.Token[0], start.Line
	}
	return "", start.Line // a comment
}

// moduleFolder is where the go command keeps m, or "" if m is not there whole:
// while it extracts a module, a .partial marker stands beside the download.
func moduleFolder(modcache string, m module.Version) (string, error) {
	escapedPath, err := module.EscapePath(m.Path)
	if err != nil {
		return "", fmt.Errorf("godoc pack: %w", err)
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", fmt.Errorf("godoc pack: %w", err)
	}
	folder := filepath.Join(modcache, filepath.FromSlash(escapedPath)+"@"+version)
	marker := filepath.Join(modcache, "cache", "download", filepath.FromSlash(escapedPath), "@v", version+".partial")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", nil
	}
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return folder, nil
}

// goFile is a source file that may hold documents.
type goFile struct {
	module     string
	importPath string
	name       string
}

// goFiles lists the source files below root in byte order within each folder.
func goFiles(m module.Version, root string) ([]goFile, error) {
	var files []goFile
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if name != root && (base[0] == '.' || base[0] == '_') {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if name != root && skipFolder(name, base) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		files = append(files, goFile{m.Path, path.Join(m.Path, filepath.ToSlash(rel)), name})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: listing its files: %w", m, err)
	}
	return files, nil
}

func skipFolder(name, base string) bool {
	switch base {
	case "testdata", "internal", "vendor":
		return true
	}
	_, err := os.Stat(filepath.Join(name, "go.mod")) // a module of its own
	return err == nil
}

// comment is a documented symbol before duplicates are folded.
type comment struct {
	id, title, text, kind string
	file                  goFile
}

// readComments parses files on all processors and returns their comments in
// the order of files, then of the source.
func readComments(files []goFile) ([]comment, error) {
	results := make([][]comment, len(files))
	errs := make([]error, len(files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i], errs[i] = fileComments(files[i])
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs { // the first in file order, whichever worker met one first
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(results...), nil
}

func fileComments(f goFile) ([]comment, error) {
	src, err := os.ReadFile(f.name)
	if err != nil {
		return nil, fmt.Errorf("godoc pack: %w", err)
	}
	if line := invalidUTF8Line(src); line > 0 {
		return nil, fmt.Errorf("%s:%d: found bytes that are not UTF-8; the module cache is damaged, check it with `go mod verify`", f.name, line)
	}
	// Without a name the parser's error starts with line:column, even if the
	// file holds a //line directive that names another file.
	tree, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%s:%w; expected Go source, check the module cache with `go mod verify`", f.name, err)
	}
	if tree.Name.Name == "main" {
		return nil, nil
	}
	c := collector{file: f, pkg: tree.Name.Name}
	c.add("package", "", tree.Doc)
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			c.addFunc(d)
		case *ast.GenDecl:
			c.addGroup(d)
		}
	}
	return c.comments, nil
}

// invalidUTF8Line is the 1-based line of the first byte that is not UTF-8, or
// 0 if there is none.
func invalidUTF8Line(src []byte) int {
	if utf8.Valid(src) {
		return 0
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && size == 1 {
			return bytes.Count(src[:at], []byte("\n")) + 1
		}
		at += size
	}
}

// collector gathers the comments of one file.
type collector struct {
	file     goFile
	pkg      string
	comments []comment
}

func (c *collector) add(kind, symbol string, doc *ast.CommentGroup) {
	text := commentText(doc)
	if text == "" { // no comment, or one of directives only: a later file may hold the real one
		return
	}
	id, title := c.file.importPath, c.pkg
	if symbol != "" {
		id, title = id+"."+symbol, title+"."+symbol
	}
	c.comments = append(c.comments, comment{id, title, text, kind, c.file})
}

func (c *collector) addFunc(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	if d.Recv == nil {
		c.add("func", d.Name.Name, d.Doc)
		return
	}
	if recv := receiverType(d.Recv); ast.IsExported(recv) {
		c.add("method", recv+"."+d.Name.Name, d.Doc)
	}
}

// receiverType is the name of a receiver's type, without pointer and type
// parameters.
func receiverType(recv *ast.FieldList) string {
	if len(recv.List) != 1 {
		return ""
	}
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// addGroup adds the names of a const, var or type declaration. A name without
// a comment of its own takes that of its declaration, as the reader of the
// source does.
func (c *collector) addGroup(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() {
				c.add("type", s.Name.Name, cmp.Or(s.Doc, d.Doc))
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() {
					c.add(d.Tok.String(), name.Name, cmp.Or(s.Doc, d.Doc))
				}
			}
		}
	}
}

// commentText is the one rule by which a comment becomes text: comment markers
// go, with one space after //; directives such as //go:generate go; spaces and
// tabs at the ends of lines and blank lines at both ends go; everything else
// stays as it was written. It is not [ast.CommentGroup.Text], whose rule has
// changed between Go versions.
func commentText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	var lines []string
	for _, c := range doc.List {
		if body, ok := strings.CutPrefix(c.Text, "//"); ok {
			if !isDirective(body) {
				lines = append(lines, strings.TrimPrefix(body, " "))
			}
			continue
		}
		body := strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/")
		lines = append(lines, strings.Split(body, "\n")...)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// isDirective tells a line that speaks to a tool, such as go:build, from prose.
func isDirective(body string) bool {
	for _, word := range []string{"line ", "extern ", "export "} {
		if strings.HasPrefix(body, word) {
			return true
		}
	}
	tool, rest, ok := strings.Cut(body, ":")
	if !ok || tool == "" || rest == "" {
		return false
	}
	lower := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
	return strings.IndexFunc(tool, func(r rune) bool { return !lower(r) }) < 0 && lower(rune(rest[0]))
}

// foldDuplicates keeps the first comment of each id and one document per text,
// in byte order of ids.
func foldDuplicates(comments []comment) []Document {
	seen := map[string]bool{}
	var unique []comment
	for _, c := range comments {
		if !seen[c.id] {
			seen[c.id] = true
			unique = append(unique, c)
		}
	}
	slices.SortFunc(unique, func(a, b comment) int { return cmp.Compare(a.id, b.id) })
	byText := map[string]int{}
	var docs []Document
	for _, c := range unique {
		if utf8.RuneCountInString(c.text) < minGodocChars || strings.HasPrefix(c.text, "Copyright ") {
			continue
		}
		if i, ok := byText[c.text]; ok {
			meta := docs[i].Meta
			meta[MetaAliases] = strings.TrimSpace(meta[MetaAliases] + " " + c.id)
			continue
		}
		byText[c.text] = len(docs)
		docs = append(docs, Document{
			ID: c.id, Title: c.title, Text: c.text,
			Meta: map[string]string{MetaModule: c.file.module, MetaPackage: c.file.importPath, MetaKind: c.kind},
		})
	}
	return docs
}
