package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/touchstone-eval/touchstone/evaltests/digest"
)

const modulePath = "github.com/touchstone-eval/touchstone"

// ingestPackages are those whose imports an ingest may run.
var ingestPackages = []string{
	modulePath + "/engine/chunk", modulePath + "/engine/embed", modulePath + "/engine/enrich", modulePath + "/engine/lexical", modulePath + "/engine/store",
}

// Libraries is a digest of the Go version and of the modules, with their
// versions, that the packages of the ingest import. It is found once a
// process.
func Libraries(context.Context) (string, error) { return libraries() }

var libraries = sync.OnceValues(func() (string, error) {
	versions, err := builtWith()
	if err != nil {
		return "", err
	}
	slices.Sort(versions)
	return digest.Bytes([]byte(runtime.Version() + "\n" + strings.Join(slices.Compact(versions), "\n"))), nil
})

// builtWith lists module@version of the ingest's libraries. The binary knows
// its modules unless it is a test's; then the go command is asked, which knows
// which of them an ingest needs as well.
func builtWith() ([]string, error) {
	listed, listErr := goList()
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		if listErr != nil {
			return nil, fmt.Errorf("the versions of the ingest's libraries are unknown: this binary was built without them, and %w", listErr)
		}
		return listed, nil
	}
	built := map[string]string{}
	for _, m := range info.Deps {
		built[m.Path] = version(m.Version, m.Replace)
	}
	var out []string
	if listErr != nil { // then any module may be one of them
		for path, v := range built {
			out = append(out, path+"@"+v)
		}
		return out, nil
	}
	for _, l := range listed {
		path, v, _ := strings.Cut(l, "@")
		if b, ok := built[path]; ok {
			v = b // what is in the binary, not what the folder says now
		}
		out = append(out, path+"@"+v)
	}
	return out, nil
}

func version(v string, replace *debug.Module) string {
	if replace != nil {
		return fmt.Sprintf("%s=>%s@%s", v, replace.Path, replace.Version)
	}
	return v
}

// goList asks the go command for the modules that the ingest imports.
func goList() ([]string, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Module,Standard"}, ingestPackages...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %.200s", err, strings.TrimSpace(stderr.String()))
	}
	var versions []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Standard   bool
			Module     *struct {
				Path, Version string
				Replace       *struct{ Path, Version string }
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return versions, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Standard || p.Module == nil || p.Module.Path == modulePath {
			continue
		}
		v := p.Module.Version
		if r := p.Module.Replace; r != nil {
			v = fmt.Sprintf("%s=>%s@%s", v, r.Path, r.Version)
		}
		versions = append(versions, p.Module.Path+"@"+v)
	}
}
