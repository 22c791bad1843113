package machine

// view is what a token sees of the outputs of nodes: its own visits and those
// before the fan-outs that it comes from, but nothing of the branches beside it.
type view struct {
	up  *view // of the token that forked; it does not change meanwhile
	own map[string]shown
	all map[string]any // outputs by node, up's too; nil until somebody asks
}

// shown is a node's newest output, with what is readable beside it.
type shown struct {
	output map[string]any
	meta   map[string]any
}

// set makes an output the newest one of its node.
func (v *view) set(node string, s shown) {
	if v.own == nil {
		v.own = make(map[string]shown)
	}
	v.own[node] = s
	if v.all != nil {
		v.all[node] = s.output
	}
}

func (v *view) get(node string) (s shown, ran bool) {
	for ; v != nil; v = v.up {
		if s, ran = v.own[node]; ran {
			return s, true
		}
	}
	return shown{}, false
}

// outputs are the newest outputs by node, for expressions. The map is the view's.
func (v *view) outputs() map[string]any {
	if v.all != nil {
		return v.all
	}
	v.all = make(map[string]any)
	if v.up != nil {
		for node, output := range v.up.outputs() {
			v.all[node] = output
		}
	}
	for node, s := range v.own {
		v.all[node] = s.output
	}
	return v.all
}

// absorb takes over what a branch has seen, and what the branches between v and
// it have, each once.
func (v *view) absorb(branch *view, done map[*view]bool) {
	if done[branch] {
		return
	}
	done[branch] = true
	v.absorb(branch.up, done)
	for node, s := range branch.own {
		v.set(node, s)
	}
}
