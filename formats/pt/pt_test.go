package pt_test

import (
	"testing"

	"ckpt/formats"
	"ckpt/formats/formattest"
	"ckpt/formats/pt"
)

const samples = "../../testdata/pt"

func TestFormat(t *testing.T) {
	formattest.Run(t, pt.Format, formattest.Options{
		Samples: samples,
		Unwritable: func(c *formats.Checkpoint) string {
			if c.Variant == "torchscript" {
				return "its code would be lost"
			}
			return ""
		},
	})
}

func FuzzRead(f *testing.F) { formattest.Fuzz(f, pt.Format, samples) }
