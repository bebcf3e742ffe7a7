package pack

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

//go:embed templates/*.tmpl
var templateFiles embed.FS

// Templates lists what [Generate] can make.
func Templates() []string { return sorted(generators) }

var generators = map[string]func(g *generation) error{"forms": (*generation).forms, "invoices": (*generation).invoices, "tables": (*generation).tables}

// Generate writes a synthetic folder of documents with its key to dir, which
// must not exist or be empty: corpus.json, pack.toml with the generator block,
// and the lock. The same template and seed make the same bytes. Such documents
// hold what written text seldom does: two notations of numbers, empty fields,
// letters for digits as a scanner reads them, a document that replaces
// another, and one that only looks as if it were of the type and must stay
// untyped.
func Generate(name string, seed int64, dir string) (Lock, error) {
	make, ok := generators[name]
	if !ok {
		return Lock{}, fmt.Errorf("template %q: none such; have %s", name, strings.Join(Templates(), ", "))
	}
	if old, err := os.ReadDir(dir); err == nil && len(old) > 0 {
		return Lock{}, fmt.Errorf("%s: not empty; give a new folder", dir)
	}
	text, err := templateFiles.ReadFile("templates/" + name + ".tmpl")
	if err != nil {
		return Lock{}, err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return Lock{}, err
	}
	g := &generation{
		template: t, files: map[string]string{},
		// One stream for each template: equal seeds make unrelated folders.
		rand: rand.New(rand.NewPCG(uint64(seed), uint64(len(name))<<32|uint64(name[0]))),
		key:  corpusKey{Name: name + "-" + strconv.FormatInt(seed, 10), Description: "generated " + name},
	}
	if err := make(g); err != nil {
		return Lock{}, err
	}
	m := Manifest{
		Name: strings.ReplaceAll(g.key.Name, "--", "-"), Version: "1", Description: g.key.Description, Licence: "as the program that generated it",
		Source: "touchstone pack generate " + name + " --seed " + strconv.FormatInt(seed, 10), Language: "en", Unit: "document", Format: "folder",
		Role: "guard", Authored: "self", Generator: &Generator{Template: name, SHA256: digest.Bytes(text), Seed: seed},
	}
	g.key.Generator = map[string]string{"template": name, "sha256": m.Generator.SHA256, "seed": strconv.FormatInt(seed, 10)}
	return g.write(dir, m)
}

type corpusKey struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Questions   []keyQuestion     `json:"questions"`
	Fields      []keyField        `json:"probeGroundTruth"`
	Types       []keyType         `json:"docTypeGroundTruth"`
	Generator   map[string]string `json:"generator"`
}

type keyQuestion struct {
	ID             string   `json:"id"`
	Question       string   `json:"question"`
	Category       string   `json:"category"`
	Negative       bool     `json:"negative,omitempty"`
	Documents      []string `json:"documents,omitempty"`
	MustContainAny []string `json:"mustContainAny,omitempty"`
	MustCiteAny    []string `json:"mustCiteAny,omitempty"`
	MustNotContain []string `json:"mustNotContain,omitempty"`
}

type keyField struct {
	Document string `json:"document"`
	Field    string `json:"field"`
	Expected string `json:"expected"`
}

type keyType struct {
	Document string `json:"document"`
	Expected string `json:"expected,omitempty"`
}

type generation struct {
	template *template.Template
	rand     *rand.Rand
	files    map[string]string
	key      corpusKey
}

func (g *generation) write(dir string, m Manifest) (Lock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Lock{}, err
	}
	for _, name := range sorted(g.files) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(g.files[name]), 0o644); err != nil {
			return Lock{}, err
		}
	}
	key, err := json.MarshalIndent(g.key, "", "  ")
	if err != nil {
		return Lock{}, err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, corpusFile), append(key, '\n'), 0o644), m.Write(dir)); err != nil {
		return Lock{}, err
	}
	p, err := Load(dir, Options{})
	if err != nil {
		return Lock{}, fmt.Errorf("what was generated cannot be read: %w", err)
	}
	lock, err := p.Lock()
	if err != nil {
		return Lock{}, err
	}
	return lock, lock.Write(dir)
}

func (g *generation) render(file string, data any) error {
	var b strings.Builder
	if err := g.template.Execute(&b, data); err != nil {
		return err
	}
	g.files[file] = b.String()
	return nil
}

func (g *generation) ask(q keyQuestion) {
	if q.Documents != nil {
		q.MustCiteAny = q.Documents
	}
	g.key.Questions = append(g.key.Questions, q)
}

func (g *generation) field(doc, name, value string) {
	g.key.Fields = append(g.key.Fields, keyField{doc, name, value})
}

// some takes n of the list, in an order of its own.
func (g *generation) some(list []string, n int) []string {
	out := make([]string, n)
	for i, j := range g.rand.Perm(len(list))[:n] {
		out[i] = list[j]
	}
	return out
}

var (
	vendors = []string{
		"Aldersea Rope Works", "Brindle & Moss", "Copperline Tools", "Dunmore Glass", "Easterly Paper", "Fennick Pumps", "Garrow Timber",
		"Hollin Bearings", "Ivelet Optics", "Jarrow Valves", "Kestle Paints", "Lowick Springs",
	}
	goods = []string{"rope, 20 m", "brass hinge", "hand pump", "pane, 4 mm", "oak board", "valve seat", "lamp oil, 5 l", "ball bearing", "writing paper", "prism"}
	given = []string{"Ada", "Benno", "Carys", "Dilys", "Edda", "Fintan", "Greta", "Hamo", "Idony", "Joss", "Keziah", "Lowri"}
	last  = []string{"Ashdown", "Birkett", "Crewe", "Dacre", "Elwick", "Fell", "Garth", "Holm", "Ings", "Jessop", "Kirkby", "Lund"}
	towns = []string{"Almouth", "Barhaven", "Crosswater", "Dunholt", "Eastry", "Farlow"}
)

// money writes cents in one of two notations, and returns both.
func money(cents int, continental bool) (written string, accepted []string) {
	whole := strconv.Itoa(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	english := fmt.Sprintf("%s.%02d", whole, cents%100)
	other := strings.NewReplacer(",", ".", ".", ",").Replace(english)
	if continental {
		return other, []string{other, english}
	}
	return english, []string{english, other}
}

func (g *generation) date() string {
	return fmt.Sprintf("%d-%02d-%02d", 2021+g.rand.IntN(4), 1+g.rand.IntN(12), 1+g.rand.IntN(28))
}

type invoiceLine struct {
	Item, Price, Amount string
	Quantity            int
}

type invoice struct {
	Number, Vendor, Date, Total, Currency, Replaces string
	Lookalike                                       bool
	Lines                                           []invoiceLine
}

func (g *generation) invoices() error {
	var old invoice
	var oldTotal []string
	for i, vendor := range g.some(vendors, len(vendors)) {
		v := invoice{
			Number: fmt.Sprintf("R-%d", 4100+37*i+g.rand.IntN(30)), Vendor: vendor, Date: g.date(), Currency: []string{"EUR", "GBP", "CHF"}[g.rand.IntN(3)],
		}
		continental := g.rand.IntN(2) == 0
		sum := 0
		for _, item := range g.some(goods, 2+g.rand.IntN(3)) {
			n, price := 1+g.rand.IntN(40), 150+g.rand.IntN(90000)
			l := invoiceLine{Item: item, Quantity: n}
			l.Price, _ = money(price, continental)
			l.Amount, _ = money(n*price, continental)
			v.Lines = append(v.Lines, l)
			sum += n * price
		}
		var totals []string
		v.Total, totals = money(sum, continental)
		file := fmt.Sprintf("invoice-%02d.md", i+1)
		switch i {
		case 1: // corrects the first
			v.Vendor, v.Currency, v.Replaces, v.Date = old.Vendor, old.Currency, old.Number, "2025"+v.Date[4:]
		case 2:
			v.Lookalike = true
		}
		printed := v
		if i == 3 { // as a scanner reads it
			printed.Number = strings.NewReplacer("0", "O", "1", "l").Replace(v.Number)
		}
		if err := g.render(file, printed); err != nil {
			return err
		}
		if v.Lookalike {
			g.key.Types = append(g.key.Types, keyType{Document: file})
			g.ask(keyQuestion{ID: "lookalike", Question: "What is the total due of the invoice " + v.Number + "?", Category: "abstention", Negative: true})
			continue
		}
		g.key.Types = append(g.key.Types, keyType{file, "invoice"})
		g.field(file, "number", v.Number)
		g.field(file, "vendor", v.Vendor)
		g.field(file, "date", v.Date)
		g.field(file, "total", v.Total)
		switch i {
		case 0:
			old, oldTotal = v, totals
		case 1:
			g.ask(keyQuestion{
				ID: "corrected", Question: "What is due to " + v.Vendor + " after the correction?", Category: "superseded",
				Documents: []string{file}, MustContainAny: totals, MustNotContain: oldTotal,
			})
		default:
			g.ask(keyQuestion{
				ID: "total-" + strconv.Itoa(i+1), Question: "What is the total due on the invoice of " + v.Vendor + "?", Category: "exact_value",
				Documents: []string{file}, MustContainAny: totals,
			})
		}
	}
	g.ask(keyQuestion{ID: "absent", Question: "What is the total due on invoice R-9999?", Category: "abstention", Negative: true})
	return nil
}

type form struct {
	Name, Born, Member, Town, Telephone, Signed string
	Lookalike                                   bool
}

func (g *generation) forms() error {
	firsts, lasts := g.some(given, len(given)), g.some(last, len(last))
	for i := range firsts {
		f := form{
			Name: firsts[i] + " " + lasts[i], Born: fmt.Sprintf("%d %s %d", 1+g.rand.IntN(28), []string{"March", "June", "October"}[g.rand.IntN(3)], 1950+g.rand.IntN(50)),
			Member: fmt.Sprintf("M%05d", 10000+811*i+g.rand.IntN(800)), Town: towns[g.rand.IntN(len(towns))],
			Telephone: fmt.Sprintf("0%d %06d", 1000+g.rand.IntN(9000), g.rand.IntN(1000000)), Signed: g.date(), Lookalike: i == 5,
		}
		file := fmt.Sprintf("form-%02d.txt", i+1)
		empty := i%4 == 3
		printed := f
		if empty {
			printed.Telephone = ""
		}
		if i == 2 {
			printed.Member = strings.NewReplacer("0", "O", "1", "l").Replace(f.Member)
		}
		if err := g.render(file, printed); err != nil {
			return err
		}
		if f.Lookalike {
			g.key.Types = append(g.key.Types, keyType{Document: file})
			g.ask(keyQuestion{ID: "lookalike", Question: "When did " + f.Name + " register?", Category: "abstention", Negative: true})
			continue
		}
		g.key.Types = append(g.key.Types, keyType{file, "registration"})
		g.field(file, "member", f.Member)
		g.field(file, "born", f.Born)
		if empty {
			g.ask(keyQuestion{ID: "no-telephone-" + strconv.Itoa(i+1), Question: "What telephone number did " + f.Name + " give?", Category: "abstention", Negative: true})
			continue
		}
		g.ask(keyQuestion{
			ID: "member-" + strconv.Itoa(i+1), Question: "What is the member number of " + f.Name + "?", Category: "exact_value",
			Documents: []string{file}, MustContainAny: []string{f.Member},
		})
	}
	return nil
}

type timetable struct {
	Number, Harbour, Replaces string
	Lookalike                 bool
	Lines                     []timetableLine
}

type timetableLine struct{ Name, Weekdays, Saturday, Sunday string }

func (g *generation) tables() error {
	clock := func() string { return fmt.Sprintf("%02d:%02d", 5+g.rand.IntN(18), 5*g.rand.IntN(12)) }
	for i, harbour := range g.some(towns, len(towns)) {
		number := 10 + 3*i
		for _, version := range []string{"", "a"} {
			if version != "" && i%2 == 1 {
				continue
			}
			t := timetable{Number: strconv.Itoa(number) + version, Harbour: harbour, Lookalike: i == 4 && version == ""}
			if version != "" && i != 4 {
				t.Replaces = strconv.Itoa(number)
			}
			for _, name := range g.some(last, 6) {
				t.Lines = append(t.Lines, timetableLine{name, clock(), clock(), []string{clock(), "none"}[g.rand.IntN(2)]})
			}
			file := "table-" + t.Number + ".md"
			if err := g.render(file, t); err != nil {
				return err
			}
			if t.Lookalike {
				g.key.Types = append(g.key.Types, keyType{Document: file})
				continue
			}
			g.key.Types = append(g.key.Types, keyType{file, "timetable"})
			g.field(file, "harbour", harbour)
			if version == "" && i%2 == 0 {
				continue // replaced: not to be asked
			}
			l := t.Lines[g.rand.IntN(len(t.Lines))]
			g.ask(keyQuestion{
				ID: "cell-" + t.Number, Question: "When does the " + l.Name + " line leave " + harbour + " on Saturdays?", Category: "table",
				Documents: []string{file}, MustContainAny: []string{l.Saturday},
			})
		}
	}
	g.ask(keyQuestion{ID: "absent", Question: "When does the night line leave Norwick?", Category: "abstention", Negative: true})
	return nil
}
