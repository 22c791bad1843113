package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Number groups digits by threes: 12,345.
func Number(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	var b strings.Builder
	for i, r := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

// Count is a number with its noun.
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Span writes milliseconds the way people say them, with two units at most.
func Span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return strconv.FormatFloat(float64(ms/100)/10, 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}
