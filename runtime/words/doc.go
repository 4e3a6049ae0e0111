// Package words prepares texts for agents and people: the candidates that a misspelt name may have meant, first
// sentences, clipped values, and the check for what a message must not disclose. The runtime uses it, and so do the
// generator and other tools.
package words
