package machine

import (
	"strconv"
	"time"

	"github.com/pawl-ci/pawl/budget"
)

func count(n int64) string   { return strconv.FormatInt(n, 10) }
func dollars(n int64) string { return budget.Micros(n).String() }
func elapsed(n int64) string { return time.Duration(n).Round(time.Millisecond).String() }
