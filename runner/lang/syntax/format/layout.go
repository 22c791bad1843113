package format

// layout is a file as it was read: statements and comments of their own, in file
// order.
type layout []line

// line is a statement with all that belongs to it, or a comment on a line of its
// own.
type line struct {
	depth   int  // how many blocks it stands in
	blank   bool // a blank line stands before it
	comment bool // head is a comment

	head  string   // what is never broken into lines
	group *group   // what follows it in brackets, or nil
	tail  string   // the comment behind it, or ""
	body  []string // the lines of its text
}

// group is what stands in brackets.
type group struct {
	open  string // "[", "{" or "[enum:"
	close string
	head  string // the comment behind the opening bracket, or ""
	items []item
	notes []note // comments behind the last member
	size  int    // characters on one line, or -1 when a comment forbids that
}

// item is a member of a group.
type item struct {
	notes []note // comments above it
	blank bool   // a blank line stands before it
	key   string // "key: ", or ""
	value value
	tail  string // the comment behind it, or ""
}

// value is one token, or a group.
type value struct {
	text  string
	group *group
}

// note is a comment on a line of its own.
type note struct {
	text  string
	blank bool // a blank line stands before it
}
