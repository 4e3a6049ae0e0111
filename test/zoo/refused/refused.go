// Package refused has types that the generator refuses, each with a diagnostic in testdata/refused.txt.
package refused

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/big"
	"sync"
	"time"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"

	"github.com/aqltag/aqltag/test/zoo/other"
)

// Refused has a field for each type that JSON cannot carry.
type Refused struct {
	_           struct{} `aql:"category=CREATE"`
	Channel     chan int
	Sender      chan<- string
	Function    func()
	Complex64   complex64
	Complex128  complex128
	Pointer     unsafe.Pointer
	Interface   fmt.Stringer
	Reader      io.Reader
	Error       error
	Own         Animal
	Context     context.Context
	Itself      itself
	Channels    []chan int
	Functions   map[string]func()
	BoolKeys    map[bool]int
	FloatKeys   map[float64]int
	StructKeys  map[other.Point]int
	AnyKeys     map[any]int
	PointerKeys map[*int]int
	Stripped    Stamp
	StrippedInt Amount
	Lock        Locked
	Patch       aql.Patch[Animals]
	Patches     []aql.Patch[Animals]
	Optional    aql.Optional[aql.Optional[int]]
	OptionalOf  aql.Optional[chan int]
	Null        sql.Null[func()]
	Box         other.Box[chan int]
	Array       [2]func()
	None        [0]string
	Unnamed     struct{ C chan int }
}

type itself *itself

// Stamp has lost the methods of time.Time.
type Stamp time.Time

// Amount has lost the methods of big.Int.
type Amount big.Int

// Locked is a mutex without its methods.
type Locked sync.Mutex

// Animal is implemented by Cat and Dog.
type Animal interface{ Legs() int }

// Animals are some.
type Animals struct {
	All []Animal
}

// Cat is an Animal.
type Cat struct{}

// Legs is a method.
func (Cat) Legs() int { return 4 }

// Dog is an Animal.
type Dog struct{}

// Legs is a method.
func (*Dog) Legs() int { return 4 }

// Refuse is never an operation.
func Refuse(*Refused) error { return nil }
