package shapes

import "go/types"

// KeyOf returns how the names of a map's entries are read: as text by the methods of the key (Text, or Time), as an
// integer (Int, Uint), or as they are (String). It differs from the shape of the key where that writes its own JSON, of
// which keys make no use.
func KeyOf(key *Shape) *Shape {
	basic, isBasic := key.Type.Underlying().(*types.Basic)
	switch {
	case key.Kind == Time:
		return key
	case hasMethod(key.Type, "UnmarshalText"):
		return &Shape{Kind: Text, Type: key.Type}
	case !isBasic || key.Kind == Int || key.Kind == Uint || key.Kind == String:
		return key
	case basic.Info()&types.IsString != 0:
		return &Shape{Kind: String, Type: key.Type}
	}
	kind := Int
	if basic.Info()&types.IsUnsigned != 0 {
		kind = Uint
	}
	bits := map[types.BasicKind]int{
		types.Int8: 8, types.Int16: 16, types.Int32: 32, types.Int64: 64,
		types.Uint8: 8, types.Uint16: 16, types.Uint32: 32, types.Uint64: 64,
	}
	return &Shape{Kind: kind, Type: key.Type, Go: key.Go, Bits: bits[basic.Kind()]}
}
