// Package all is the list of every format: the one line that a new format adds.
package all

import (
	"ckpt/formats"
	"ckpt/formats/pt"
)

// Formats is in the order in which detection tries them.
var Formats = formats.List{
	pt.Format,
}
