package script

import (
	"encoding/json"
	"fmt"
	"slices"
)

// checkSchema refuses what a provider would: a schema that is not an object of
// type object at its top, and with strict one in which some object does not
// close its set of properties and require every one of them.
func checkSchema(raw json.RawMessage, strict bool, at string) *refusal {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return refuse(at, "%s: a schema is an object", at)
	}
	if schema["type"] != "object" {
		return refuse(at, "%s: the schema's type must be \"object\"", at)
	}
	if strict {
		return checkStrict(schema, at)
	}
	return nil
}

func checkStrict(schema map[string]any, at string) *refusal {
	if properties, ok := schema["properties"].(map[string]any); ok || schema["type"] == "object" {
		if schema["additionalProperties"] != false {
			return refuse(at, "%s: strict mode wants \"additionalProperties\": false", at)
		}
		required, _ := schema["required"].([]any)
		for _, name := range sorted(properties) {
			if !slices.Contains(required, any(name)) {
				return refuse(at, "%s: strict mode wants every property in required; %q is not", at, name)
			}
		}
		if bad := checkEach(properties, at+".properties"); bad != nil {
			return bad
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		if bad := checkStrict(items, at+".items"); bad != nil {
			return bad
		}
	}
	for _, group := range []string{"anyOf", "oneOf", "allOf"} {
		parts, _ := schema[group].([]any)
		for i, part := range parts {
			if sub, ok := part.(map[string]any); ok {
				if bad := checkStrict(sub, fmt.Sprintf("%s.%s[%d]", at, group, i)); bad != nil {
					return bad
				}
			}
		}
	}
	defs, _ := schema["$defs"].(map[string]any)
	return checkEach(defs, at+".$defs")
}

func checkEach(schemas map[string]any, at string) *refusal {
	for _, name := range sorted(schemas) {
		if sub, ok := schemas[name].(map[string]any); ok {
			if bad := checkStrict(sub, at+"."+name); bad != nil {
				return bad
			}
		}
	}
	return nil
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
