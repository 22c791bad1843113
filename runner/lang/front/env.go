package front

import "regexp"

// secretName matches names whose values may be secret. A workflow is text that
// people share and models read: such a value must never get into it. AUTHOR is
// somebody's name, AUTHORIZATION is not.
var secretName = regexp.MustCompile(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|KEY|AUTH($|[^O]|O($|[^R])|ORI)|COOKIE|SESSION|_PAT$|^ACTIONS_`)

// EnvAllowed reports whether ${name} may be replaced by the environment's value.
func EnvAllowed(name string) bool { return !secretName.MatchString(name) }
