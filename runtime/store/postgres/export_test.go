package postgres

// ParseLocation is parseLocation, for the fuzz target.
var ParseLocation = parseLocation
