package diag

// Rule is the register's entry for one code.
type Rule struct {
	Code  Code
	Title string // a noun phrase: "unknown node in edge"
	Why   string // one paragraph: what goes wrong without the rule
	Bad   string // a complete .iter file that triggers the rule
	Good  string // the same file, mended
}

// Lookup returns the register's entry for code.
func Lookup(code Code) (Rule, bool) {
	rule, ok := register[code]
	return rule, ok
}

var register = map[Code]Rule{}
