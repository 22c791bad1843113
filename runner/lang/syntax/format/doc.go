// Package format writes .iter files in the one canonical layout. [Source] takes a
// file and returns its text laid out anew; what it means stays the same, and a
// text that is laid out already stays as it is, byte for byte.
//
// The layout is made for readers of diffs: it follows from what is written and
// never from how it was broken into lines, so that two people who change one
// thing change one line.
//
//   - Two spaces for each level. LF line ends, one at the end of the file, no byte
//     order mark, no blanks at line ends.
//   - Declarations, properties and edges keep their order. Between declarations
//     stands one blank line, with the comments above a declaration on its side.
//     Inside them the author's blank lines stay, at most one in a row, none at the
//     beginning or end of a block or bracket.
//   - Comments stay where they are: those of their own lines at the depth of what
//     follows them, or at the end of a block if they were indented into it; those
//     behind something two spaces behind it. A single # at the beginning of a
//     comment becomes ##; nothing else of a comment is touched.
//   - The text of prompts and commands is only indented anew. Strings keep the
//     escapes they were written with.
//   - The clauses of an edge stand in the order when, as, with: what is decided
//     stands before what is passed.
//   - Lists and braces stand on one line where it is no longer than [Width] and no
//     comment is in the way. Otherwise each member has a line of its own. Members
//     are separated by commas with none behind the last one, in both forms: other
//     readers of the language know no other way.
//   - Texts and durations are quoted; names, tools and words of a closed set are
//     not, unless they could be nothing else than texts. Keys that the author
//     names are not quoted where they are names; keys inside JSON always are.
//   - The author's words stay: delegate is not made backend, xhigh not extra_high.
//
// It stands on floor 3, is pure, and imports syntax, scan, grammar and diag.
package format
