package models

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOwnLock: the lock of this repository is sound, and names the models that
// the documents speak of.
func TestOwnLock(t *testing.T) {
	l, err := ReadLock("../../models.lock.json")
	require.NoError(t, err)
	mini, err := l.Model("all-MiniLM-L6-v2")
	require.NoError(t, err)
	assert.Equal(t, Embedder, mini.Kind)
	assert.True(t, mini.Remote())
	var kinds []string
	for _, s := range mini.Sources {
		kinds = append(kinds, s.Kind)
	}
	assert.Equal(t, []string{Local, Hub, Maven}, kinds)
	ce3, err := l.Model("ce3-int8")
	require.NoError(t, err)
	assert.False(t, ce3.Remote())
	_, err = l.Model("nope")
	assert.ErrorContains(t, err, "all-MiniLM-L6-v2, ce3-int8")
}

func TestParseLockRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Lock, *Model)
		want   string
	}{
		{"another version", func(l *Lock, _ *Model) { l.Version = 2 }, "version 2; want 1"},
		{"a name that climbs", func(_ *Lock, m *Model) { m.Name = ".." }, "name: want letters"},
		{"a name with a folder", func(_ *Lock, m *Model) { m.Name = "a/b" }, "name: want letters"},
		{"a hidden name", func(_ *Lock, m *Model) { m.Name = ".partial" }, "name: want letters"},
		{"no name", func(_ *Lock, m *Model) { m.Name = "" }, "name: want letters"},
		{"twice, in another case", func(l *Lock, m *Model) { c := *m; c.Name = "TOY"; l.Models = append(l.Models, c) }, "occurs twice"},
		{"unknown kind", func(_ *Lock, m *Model) { m.Kind = "poet" }, `kind "poet"`},
		{"no dimension", func(_ *Lock, m *Model) { m.Dim = 0 }, "dim 0"},
		{"no tokens", func(_ *Lock, m *Model) { m.MaxTokens = 0 }, "max_tokens 0"},
		{"no files", func(_ *Lock, m *Model) { m.Files = nil }, "0 files"},
		{"no sources", func(_ *Lock, m *Model) { m.Sources = nil }, "0 sources"},
		{"a file that climbs", func(_ *Lock, m *Model) { m.Files[0].Name = "../x" }, `file "../x"`},
		{"a file twice", func(_ *Lock, m *Model) { m.Files[1].Name = m.Files[0].Name }, "occurs once"},
		{"half a digest", func(_ *Lock, m *Model) { m.Files[0].SHA256 = "abcd" }, `sha256 "abcd"`},
		{"no size", func(_ *Lock, m *Model) { m.Files[0].Size = 0 }, "size 0"},
		{"unknown source", func(_ *Lock, m *Model) { m.Sources[0].Kind = "ftp" }, `kind "ftp"`},
		{"a branch for a commit", func(_ *Lock, m *Model) { m.Sources[0] = Source{Kind: Hub, Repo: "o/r", Revision: "main"} }, `revision "main"`},
		{"a repo that climbs", func(_ *Lock, m *Model) {
			m.Sources[0] = Source{Kind: Hub, Repo: "../r", Revision: strings.Repeat("a", 40)}
		}, `repo "../r"`},
		{"no version of an artifact", func(_ *Lock, m *Model) {
			m.Sources[0] = Source{Kind: Maven, Artifact: "a:b", SHA256: m.Files[0].SHA256, Size: 1}
		}, `artifact "a:b"`},
		{"an artifact that climbs", func(_ *Lock, m *Model) {
			m.Sources[0] = Source{Kind: Maven, Artifact: "a:b:../c", SHA256: m.Files[0].SHA256, Size: 1}
		}, `artifact "a:b:../c"`},
		{"a path that climbs", func(_ *Lock, m *Model) { m.Sources[0].Paths = map[string]string{"model.onnx": "../../x"} }, "leaves the source"},
		{"a path of no file", func(_ *Lock, m *Model) { m.Sources[0].Paths = map[string]string{"x": "x"} }, "none of the model's files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, _ := toy(Source{Kind: Local})
			l := Lock{Version: LockVersion, Models: []Model{m}}
			tc.change(&l, &l.Models[0])
			data, err := json.Marshal(l)
			require.NoError(t, err)
			_, err = ParseLock(data)
			require.ErrorContains(t, err, tc.want)
		})
	}
	for name, text := range map[string]string{
		"unknown key":   `{"version":1,"model":[]}`,
		"two documents": `{"version":1} {"version":1}`,
		"no JSON":       `version: 1`,
	} {
		_, err := ParseLock([]byte(text))
		assert.Error(t, err, name)
	}
}

func FuzzParseLock(f *testing.F) {
	own, err := os.ReadFile("../../models.lock.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte(`{"version":1,"models":[{"name":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLock(data)
		if err != nil {
			return
		}
		for _, m := range l.Models {
			for _, file := range m.Files {
				if p := filepath.Join("dir", m.Name, file.Name); filepath.Dir(filepath.Dir(p)) != "dir" {
					t.Fatalf("model %q file %q lies at %s", m.Name, file.Name, p)
				}
			}
		}
	})
}

func TestSettings(t *testing.T) {
	t.Setenv("MIRROR", "http://mirror.example")
	for _, tc := range []struct{ name, xml, mirror, local string }{
		{"none", `<settings/>`, "", ""},
		{"of central", `<settings><mirrors><mirror><mirrorOf>central</mirrorOf><url> http://m/ </url></mirror></mirrors></settings>`, "http://m/", ""},
		{"of all", `<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>${env.MIRROR}/x</url></mirror></mirrors></settings>`, "http://mirror.example/x", ""},
		{"of all but central", `<settings><mirrors><mirror><mirrorOf>*, !central</mirrorOf><url>http://m</url></mirror></mirrors></settings>`, "", ""},
		{"of another", `<settings><mirrors><mirror><mirrorOf>other</mirrorOf><url>http://m</url></mirror></mirrors></settings>`, "", ""},
		{"blocked", `<settings><mirrors><mirror><mirrorOf>external:*</mirrorOf><url>http://m</url><blocked>true</blocked></mirror></mirrors></settings>`, "", ""},
		{"the first counts", `<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><localRepository>/r</localRepository><mirrors><mirror><mirrorOf>a,central</mirrorOf><url>http://1</url></mirror><mirror><mirrorOf>*</mirrorOf><url>http://2</url></mirror></mirrors></settings>`, "http://1", "/r"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			mirror, local, err := parseSettings([]byte(tc.xml))
			require.NoError(t, err)
			assert.Equal(t, tc.mirror, mirror)
			assert.Equal(t, tc.local, local)
		})
	}
	_, _, err := parseSettings([]byte("<settings>"))
	assert.Error(t, err)
}

func TestMavenEnv(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("MAVEN_REPO", "")
	c, err := MavenEnv()
	require.NoError(t, err)
	assert.Equal(t, MavenConfig{Cache: filepath.Join(home, ".m2", "repository")}, c)
	put(t, filepath.Join(home, ".m2"), map[string][]byte{
		"settings.xml": []byte(`<settings><localRepository>${user.home}/r</localRepository><mirrors><mirror><mirrorOf>*</mirrorOf><url>http://m</url></mirror></mirrors></settings>`),
	})
	c, err = MavenEnv()
	require.NoError(t, err)
	assert.Equal(t, MavenConfig{Base: "http://m", Cache: home + "/r"}, c)
	t.Setenv("MAVEN_REPO", "http://mine")
	c, err = MavenEnv()
	require.NoError(t, err)
	assert.Equal(t, "http://mine", c.Base)
	put(t, filepath.Join(home, ".m2"), map[string][]byte{"settings.xml": []byte(`<settings>`)})
	_, err = MavenEnv()
	assert.ErrorContains(t, err, "settings.xml")
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("EVAL_MODELS", dir)
	put(t, filepath.Join(dir, "toy"), nil)
	put(t, dir, map[string][]byte{"file": nil})
	got, err := Find("toy")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "toy"), got)
	got, err = Find(filepath.Join(dir, "toy"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "toy"), got)
	for name, want := range map[string]string{"absent": "touchstone models get", "file": "no folder", "": "want a name or a path", "..": "want a name or a path"} {
		_, err := Find(name)
		assert.ErrorContains(t, err, want, name)
	}
	t.Setenv("EVAL_MODELS", "")
	t.Chdir(dir)
	assert.Equal(t, filepath.Join(dir, ".touchstone", "models"), Dir())
	put(t, dir, map[string][]byte{"go.mod": nil})
	put(t, filepath.Join(dir, "a", "b"), nil)
	t.Chdir(filepath.Join(dir, "a", "b"))
	assert.Equal(t, filepath.Join(dir, ".touchstone", "models"), Dir())
}
