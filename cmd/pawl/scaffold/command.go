package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/words"
)

// initFlags are the flags of init.
type initFlags struct {
	github bool
	pin    string
	list   bool
	dryRun bool
}

// Commands are the commands of this room.
func Commands(a *cli.App) []*cobra.Command { return []*cobra.Command{initCommand(a)} }

func initCommand(a *cli.App) *cobra.Command {
	f := &initFlags{}
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Put ready workflows into a repository",
		Long: "Writes two workflows that can be run as they are, ci-fix.iter and pr-refine.iter,\n" +
			"an .env.example and what .gitignore lacks; with --github also the workflow files\n" +
			"for GitHub Actions. What is there already stays as it is, so init can be called\n" +
			"again at any time.",
		Example: "  pawl init\n  pawl init my-project --github\n  pawl init --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return initialize(a, strings.Join(args, ""), f)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.github, "github", false, "workflow files for GitHub Actions too")
	flags.StringVar(&f.pin, "pin", "", "the `REF` of pawl-ci/pawl that those use, best a commit (default: the one of this pawl)")
	flags.BoolVar(&f.list, "list", false, "list what there is, and write nothing")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and write nothing")
	return cmd
}

// pinForm is what can follow the @ of `uses:`.
var pinForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]*$`)

// initJSON is what --json prints; docs/cli.md promises it.
type initJSON struct {
	Dir    string         `json:"dir,omitempty"`
	DryRun bool           `json:"dry_run"`
	Files  []initFileJSON `json:"files"`
}

type initFileJSON struct {
	Path   string `json:"path"`
	About  string `json:"about"`
	Action string `json:"action,omitempty"` // create, append or keep
	Note   string `json:"note,omitempty"`
}

func initialize(a *cli.App, given string, f *initFlags) error {
	opt := Options{GitHub: f.github || f.list, Pin: cmp.Or(f.pin, a.Pin, "v1")}
	if !pinForm.MatchString(cmp.Or(f.pin, "v1")) {
		return cli.Usage(fmt.Errorf("--pin %q: this is no commit, tag or branch", f.pin), "for example --pin v1")
	}
	if f.list {
		return listScaffold(a, opt)
	}
	dir := filepath.Clean(a.Path(cmp.Or(given, ".")))
	if err := initDir(dir, f.dryRun); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if f.dryRun && errors.Is(err, fs.ErrNotExist) {
		root, err = nil, nil
	}
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", dir, cli.Reason(err)), "")
	}
	if root != nil {
		defer root.Close()
	}
	files, err := Plan(opt, func(path string) ([]byte, bool, error) { return present(root, path) })
	if err != nil {
		return cli.Usage(err, "move it out of the way, or name another directory")
	}
	if !f.dryRun {
		if err := write(root, files); err != nil {
			return err
		}
	}
	return tellInit(a, dir, files, f.dryRun)
}

// initDir makes the directory when it is not there.
func initDir(dir string, dry bool) error {
	if dry {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.Usage(fmt.Errorf("make the directory %s: %w", dir, cli.Reason(err)), cli.DiskHint(err))
	}
	return nil
}

func listScaffold(a *cli.App, opt Options) error {
	files, err := Plan(opt, func(string) ([]byte, bool, error) { return nil, false, nil })
	if err != nil {
		return cli.Host(err, "")
	}
	for i := range files {
		files[i].Action = ""
	}
	if a.JSON {
		return a.WriteJSON(initDocument("", files, true))
	}
	var b strings.Builder
	for _, file := range files {
		fmt.Fprintf(&b, "%-*s  %s\n", pathWidth(files), file.Path, file.About)
	}
	return say(a, b.String())
}

// present reads what is at a path below the directory, which is nil when it is not
// there yet. Anything but a file is an error: init neither follows a link nor
// replaces a directory.
func present(root *os.Root, path string) ([]byte, bool, error) {
	if root == nil {
		return nil, false, nil
	}
	info, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, cli.Reason(err)
	case !info.Mode().IsRegular():
		return nil, false, errors.New("this is no ordinary file")
	}
	text, err := root.ReadFile(path)
	return text, true, err
}

// write does what was planned. A file that has come into being meanwhile is not
// overwritten either, and no link leads out of the directory.
func write(root *os.Root, files []File) error {
	for _, f := range files {
		if f.Action == Keep {
			continue
		}
		if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
			return cli.Host(fmt.Errorf("make the directory of %s: %w", f.Path, err), cli.DiskHint(err))
		}
		mode := os.O_CREATE | os.O_EXCL
		if f.Action == Append {
			mode = os.O_APPEND
		}
		if err := writeFile(root, f.Path, mode, f.Text); err != nil {
			return cli.Host(fmt.Errorf("write %s: %w", f.Path, err), cli.DiskHint(err))
		}
	}
	return nil
}

func writeFile(root *os.Root, name string, mode int, text []byte) error {
	file, err := root.OpenFile(name, mode|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// initWords say what has become of a file, and what would.
var initWords = map[Action][2]string{
	Create: {"created", "would create"},
	Append: {"added to", "would add to"},
	Keep:   {"kept", "would keep"},
}

func tellInit(a *cli.App, dir string, files []File, dry bool) error {
	if a.JSON {
		return a.WriteJSON(initDocument(dir, files, dry))
	}
	tense := 0
	if dry {
		tense = 1
	}
	var b strings.Builder
	width := pathWidth(files)
	for _, f := range files {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", len(initWords[Append][tense]), initWords[f.Action][tense], width, f.Path, cmp.Or(f.Note, f.About))
	}
	if !dry {
		b.WriteString(nextSteps(dir, files))
	}
	return say(a, b.String())
}

func pathWidth(files []File) int {
	width := 0
	for _, f := range files {
		width = max(width, len(f.Path))
	}
	return width
}

// nextSteps is what to type now.
func nextSteps(dir string, files []File) string {
	steps := "\nNext:\n"
	if dir != "." {
		steps += "  cd " + words.ShellWord(dir) + "\n"
	}
	steps += "  cp .env.example .env        # and put your key into it\n" +
		"  set -a; . ./.env; set +a\n" +
		"  pawl validate\n" +
		"  pawl run ci-fix.iter\n"
	if slices.ContainsFunc(files, func(f File) bool { return strings.HasPrefix(f.Path, ".github/") }) {
		steps += "On GitHub, once these files are committed and pushed:\n" +
			"  gh secret set OPENAI_API_KEY\n" +
			"  gh label create pawl\n" +
			"  gh workflow run pawl-ci-fix.yml\n"
	}
	return steps
}

func initDocument(dir string, files []File, dry bool) initJSON {
	doc := initJSON{Dir: dir, DryRun: dry, Files: []initFileJSON{}}
	for _, f := range files {
		doc.Files = append(doc.Files, initFileJSON{f.Path, f.About, string(f.Action), f.Note})
	}
	return doc
}

func say(a *cli.App, text string) error {
	if _, err := fmt.Fprint(a.Out, text); err != nil {
		return cli.Host(fmt.Errorf("write output: %w", err), "")
	}
	return nil
}
