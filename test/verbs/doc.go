// Package verbs measures what aql-tag init takes the functions of real libraries for.
package verbs
