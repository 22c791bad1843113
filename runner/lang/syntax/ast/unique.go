package ast

import "github.com/pawl-ci/pawl/runner/lang/diag"

// shortList is how many names are compared with each other; longer lists are put
// into a map.
const shortList = 12

// Unique leaves out of a list what has the name of an earlier member, and tells
// again of it with the place of the first one. The list is changed.
func Unique[T any](list []T, name func(*T) *Ident, again func(id *Ident, first diag.Span)) []T {
	var index map[string]diag.Span
	if len(list) > shortList {
		index = make(map[string]diag.Span, len(list))
	}
	kept := list[:0]
	for i := range list {
		id := name(&list[i])
		first, repeated := index[id.Name]
		for j := 0; index == nil && !repeated && j < len(kept); j++ {
			if earlier := name(&kept[j]); earlier.Name == id.Name {
				first, repeated = earlier.Span, true
			}
		}
		if repeated {
			again(id, first)
			continue
		}
		if index != nil {
			index[id.Name] = id.Span
		}
		kept = append(kept, list[i])
	}
	return kept
}
