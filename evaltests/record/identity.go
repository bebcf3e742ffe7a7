package record

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// ToolVersion is the version of the instrument, part of every run's identity.
const ToolVersion = "0.1.0"

// Identity is what must be equal for a resume or a merge.
type Identity struct {
	Tool  string `json:"tool"`
	Go    string `json:"go"`    // minor version, for instance go1.26
	Class string `json:"class"` // GOOS/GOARCH/GOAMD64
}

// Context is recorded and may differ.
type Context struct {
	GoFull     string `json:"go_full"`
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores"`
	MaxProcs   int    `json:"maxprocs"`
	Load       string `json:"load,omitempty"`
	Commit     string `json:"commit,omitempty"`
	DirtyFiles int    `json:"dirty_files"` // -1 when unknown
	Command    string `json:"command,omitempty"`
}

// Class is the platform class of this binary: results of float code are
// compared within a class.
func Class() string {
	class := runtime.GOOS + "/" + runtime.GOARCH
	if level := archLevel; level != "" {
		class += "/" + level
	}
	return class
}

// CurrentIdentity is the identity of this binary.
func CurrentIdentity() Identity {
	minor := runtime.Version()
	if parts := strings.SplitN(minor, ".", 3); len(parts) == 3 {
		minor = parts[0] + "." + parts[1]
	}
	return Identity{Tool: ToolVersion, Go: minor, Class: Class()}
}

// CurrentContext describes the machine and the checkout that dir is in. What
// cannot be told stays empty or -1; it is never an error.
func CurrentContext(dir string) Context {
	c := Context{
		GoFull: runtime.Version(), CPU: cpuModel(), Cores: runtime.NumCPU(), MaxProcs: runtime.GOMAXPROCS(0),
		Load: Load(), DirtyFiles: -1, Command: command(),
	}
	if out, err := git(dir, "rev-parse", "HEAD"); err == nil {
		c.Commit = strings.TrimSpace(string(out))
	}
	// What runs leave behind is no change of the sources: see Tree.
	if out, err := git(dir, "status", "--porcelain", "--", ":(top)", ":(top,exclude,glob)**/.touchstone/**"); err == nil {
		c.DirtyFiles = strings.Count(string(out), "\n")
	}
	return c
}

// command is the base name and arguments of this process: the full path of a
// test binary is a temporary one and says nothing.
func command() string {
	args := append([]string(nil), os.Args...)
	if len(args) > 0 {
		args[0] = args[0][strings.LastIndexAny(args[0], `/\`)+1:]
	}
	for i, a := range args {
		if strings.ContainsAny(a, " \t\"'") {
			args[i] = strconv.Quote(a)
		}
	}
	return strings.Join(args, " ")
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Load is the machine's load averages, empty where the system does not tell.
func Load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(data))
	if len(fields) < 3 {
		return ""
	}
	return strings.Join(fields[:3], " ")
}

// git runs git in dir. Variables that point git elsewhere (in a hook, to the
// index of the commit being made) are dropped: what counts is the checkout at
// dir. Nor does it take locks, since others may use the checkout meanwhile.
func git(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_CONFIG")
	}), "GIT_OPTIONAL_LOCKS=0")
	return cmd.Output()
}
