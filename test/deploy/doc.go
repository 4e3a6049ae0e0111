// Package deploy tests what is in the folder deploy, and the pages about it: with the program that they are for, and as
// far as a machine without containers and without a running systemd can. The tests are for Unix systems.
package deploy
