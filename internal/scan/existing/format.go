package existing

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
)

// formatOf returns the format of a rule of validator, empty if it has none. The adapter checks dates; other formats are
// hints for agents, and the handler, which validates with the rule, decides.
func formatOf(r foreigntag.Rule) string {
	switch r.Name {
	case "email", "hostname", "ipv4", "ipv6", "cidr", "mac":
		return r.Name
	case "ip", "ip_addr":
		return "ip"
	case "url", "uri", "http_url", "https_url":
		return "uri"
	case "uuid", "uuid3", "uuid4", "uuid5", "uuid7", "uuid_rfc4122", "uuid3_rfc4122", "uuid4_rfc4122", "uuid5_rfc4122":
		return "uuid"
	case "hostname_rfc1123", "fqdn":
		return "hostname"
	case "datetime":
		switch r.Param {
		case time.DateOnly:
			return "date"
		case time.RFC3339, time.RFC3339Nano:
			return "date-time"
		}
	}
	return ""
}

// plainPatterns maps rules of validator without a parameter to regular expressions that match exactly what they accept.
var plainPatterns = map[string]string{
	"alpha":             `^[a-zA-Z]+$`,
	"alphaspace":        `^[a-zA-Z ]+$`,
	"alphanum":          `^[a-zA-Z0-9]+$`,
	"alphanumspace":     `^[a-zA-Z0-9 ]+$`,
	"alphaunicode":      `^\pL+$`,
	"alphanumunicode":   `^[\pL\pN]+$`,
	"numeric":           `^[-+]?[0-9]+(\.[0-9]+)?$`,
	"number":            `^[0-9]+$`,
	"boolean":           `^(0|1|[tfTF]|true|True|TRUE|false|False|FALSE)$`,
	"hexadecimal":       `^(0[xX])?[0-9a-fA-F]+$`,
	"hexcolor":          `^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`,
	"e164":              `^\+?[1-9][0-9]{7,14}$`,
	"ascii":             `^[\x00-\x7F]*$`,
	"printascii":        `^[ -~]*$`,
	"multibyte":         `^$|[^\x00-\x7F]`,
	"md5":               `^[0-9a-f]{32}$`,
	"sha256":            `^[0-9a-f]{64}$`,
	"sha384":            `^[0-9a-f]{96}$`,
	"sha512":            `^[0-9a-f]{128}$`,
	"mongodb":           `^[0-9a-f]{24}$`,
	"ulid":              `(?i)^[0-7][0-9A-HJKMNP-TV-Z]{25}$`,
	"dns_rfc1035_label": `^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`,
	"latitude":          `^[-+]?([1-8]?[0-9](\.[0-9]+)?|90(\.0+)?)$`,
	"longitude":         `^[-+]?((1[0-7][0-9]|[1-9]?[0-9])(\.[0-9]+)?|180(\.0+)?)$`,
}

// patternOf returns the regular expression that matches exactly what a rule of validator accepts, empty if there is
// none. Rules about upper and lower case have none: a pattern cannot list the letters that have another case.
func patternOf(r foreigntag.Rule) string {
	if pattern, ok := plainPatterns[r.Name]; ok {
		return pattern
	}
	if r.Param == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(r.Param)
	switch r.Name {
	case "startswith":
		return "^" + regexp.QuoteMeta(r.Param)
	case "endswith":
		return regexp.QuoteMeta(r.Param) + "$"
	case "contains":
		return regexp.QuoteMeta(r.Param)
	case "containsrune":
		return regexp.QuoteMeta(string(first))
	case "containsany":
		return class(r.Param)
	case "excludesall":
		return "^[^" + class(r.Param)[1:] + "*$"
	case "excludesrune":
		return "^[^" + class(string(first))[1:] + "*$"
	case "excludes":
		if size == len(r.Param) {
			return "^[^" + class(r.Param)[1:] + "*$"
		}
	}
	return ""
}

// class returns a character class.
func class(chars string) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, char := range chars {
		if strings.ContainsRune(`\^-[]`, char) {
			b.WriteByte('\\')
		}
		b.WriteRune(char)
	}
	b.WriteByte(']')
	return b.String()
}
