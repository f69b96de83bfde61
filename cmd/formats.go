package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"ckpt/formats/all"
	"ckpt/report"
)

func newFormats(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "formats",
		Short:   "List the formats that are read and written",
		Example: "  ckpt formats\n  ckpt formats --format json",
		Args:    operands(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			var list []formatRow
			t := report.Table{Head: []string{"FORMAT", "VARIANT", "READ", "WRITE", "EXTENSIONS", "WHAT"}, Flex: []int{5}}
			for _, f := range all.Formats {
				list = append(list, formatRow{f.Name, f.Doc, f.Exts, nil})
				row := &list[len(list)-1]
				t.Add(f.Name, "", "", "", strings.Join(f.Exts, " "), f.Doc)
				for _, v := range f.Variants {
					row.Variants = append(row.Variants, variantRow(v))
					t.Add("", v.Name, yes(v.Read), yes(v.Write), "", v.Doc)
				}
			}
			if a.json() {
				return a.writeJSON(list)
			}
			return t.Write(a.out, width(a.out))
		},
	}
}

type formatRow struct {
	Format     string       `json:"format"`
	Doc        string       `json:"doc"`
	Extensions []string     `json:"extensions"`
	Variants   []variantRow `json:"variants"`
}

type variantRow struct {
	Name  string `json:"variant"`
	Doc   string `json:"doc"`
	Read  bool   `json:"read"`
	Write bool   `json:"write"`
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}
