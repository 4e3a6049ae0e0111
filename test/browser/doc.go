// Package browser opens pages in a real browser, Debian's chromium-headless-shell, and judges them with axe-core. Its
// tests try the console (package console), and test/site the documentation. Pictures of all pages of the console are
// then in bin/artefacts/pictures/console.
package browser
