package operator

import "syscall"

const readSettings, writeSettings = syscall.TCGETS, syscall.TCSETS
