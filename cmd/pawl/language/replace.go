package language

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
)

// ownerWrites is the bit of a file's mode that lets its owner write it.
const ownerWrites = 0o200

// replaceFile gives a file another text, all of it or nothing, also when the
// process or the machine stops in between. The file keeps its mode; of a link the
// file that it leads to is replaced. A file that its owner has write-protected is
// left alone, although its directory would let it be replaced.
func replaceFile(path, text string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return cli.Reason(err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return cli.Reason(err)
	}
	if info.Mode().Perm()&ownerWrites == 0 {
		return errors.New("the file is read-only")
	}
	draft, err := writeDraft(real, text, info.Mode().Perm())
	if err != nil {
		return fmt.Errorf("write beside it: %w", cli.Reason(err))
	}
	if err := os.Rename(draft, real); err != nil {
		return errors.Join(cli.Reason(err), os.Remove(draft))
	}
	return nil
}

// writeDraft writes the text to a new file in the directory of another one, and
// leaves none behind when it fails.
func writeDraft(beside, text string, mode os.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(beside), ".pawl-fmt-*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
