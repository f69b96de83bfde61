package pt_test

import (
	"strings"
	"testing"
)

// TestRebuild gives each function that makes a tensor what torch gives it, and
// what it must refuse. All tensors view storage 0: the floats 0 to 5.
func TestRebuild(t *testing.T) {
	const utils = "torch._utils."
	st := storage("FloatStorage", "0", 6)
	od := call("collections.OrderedDict")
	v2 := func(args ...py) py { return call(utils+"_rebuild_tensor_v2", args...) }
	plain := floats("0", 6, 4, []int64{2}, []int64{1})
	pair := "float32 [2] 0000804000" + "00a040" // 4 and 5
	for _, tt := range []struct {
		why   string
		value py
		want  []string // lines, or one that begins with "error "
	}{
		{"the old function has no flags", call(utils+"_rebuild_tensor", st, num(4), ints(2), ints(1)), []string{": " + pair}},
		{"the usual one", plain, []string{": " + pair}},
		{"a transposed view", v2(st, num(0), ints(2, 2), ints(1, 2), boolean(true), od), []string{": float32 [2,2] 0000000000000040" + "0000803f00004040"}},
		{"an expanded one", v2(st, num(1), ints(3), ints(0), boolean(false), od), []string{": float32 [3] 0000803f0000803f0000803f"}},
		{"no dimensions", v2(st, num(5), ints(), ints(), boolean(false), od), []string{": float32 [] 0000a040"}},
		{"no elements, wherever it is", v2(st, num(99), ints(0, 7), ints(7, 1), boolean(false), od), []string{": float32 [0,7] "}},
		{"a size object for a shape", v2(st, num(4), call("torch.Size", ints(2)), ints(1), boolean(false), od), []string{": " + pair}},
		{"negated", v2(st, num(1), ints(1), ints(1), boolean(false), od, dict(str("neg"), boolean(true))), []string{": float32 [1] 000080bf"}},
		{"flags that are off", v2(st, num(4), ints(2), ints(1), boolean(false), od, dict(str("conj"), boolean(false))), []string{": " + pair}},
		{"conjugated", v2(storage("ComplexFloatStorage", "0", 3), num(1), ints(1), ints(1), boolean(false), od, dict(str("conj"), boolean(true))), []string{": complex64 [1] 00000040000040c0"}},
		{"a dtype without a storage class", call(utils+"_rebuild_tensor_v3", storage("UntypedStorage", "0", 24), num(8), ints(2), ints(1), boolean(false), od, global("torch.uint16")), []string{": uint16 [2] 00008040"}},
		{"a storage of bytes", v2(storage("UntypedStorage", "0", 24), num(16), ints(4), ints(1), boolean(false), od), []string{": uint8 [4] 00008040"}},
		{"a Parameter", call(utils+"_rebuild_parameter", plain, boolean(true), od), []string{": " + pair}},
		{"a Parameter with nothing in its state", call(utils+"_rebuild_parameter_with_state", plain, boolean(true), od, dict()), []string{": " + pair}},
		{"a Parameter with attributes", call(utils+"_rebuild_parameter_with_state", plain, boolean(true), od, dict(str("tag"), num(7))),
			[]string{": torch.nn.parameter.Parameter", "data: " + pair, "requires_grad: true", "backward_hooks: collections.OrderedDict", "state.tag: 7"}},
		{"a subclass", call("torch._tensor._rebuild_from_type_v2", global(utils+"_rebuild_tensor_v2"), global("my.Tensor"), tuple(st, num(4), ints(2), ints(1), boolean(false), od), none()), []string{": " + pair}},
		{"a subclass with attributes", call("torch._tensor._rebuild_from_type_v2", global(utils+"_rebuild_tensor_v2"), global("my.Tensor"), tuple(st, num(4), ints(2), ints(1), boolean(false), od), dict(str("tag"), num(7))),
			[]string{": my.Tensor", "data: " + pair, "state.tag: 7"}},
		{"a storage by itself", storage("FloatStorage", "0", 2), []string{": float32 [2] 000000000000803f"}},

		{"sparse", call(utils+"_rebuild_sparse_tensor", global("torch.sparse_coo"), tuple(plain, plain, call("torch.Size", ints(9)), boolean(true))),
			[]string{": torch.sparse_coo tensor", "indices: " + pair, "values: " + pair, "size: torch.Size", "size.0: 9", "is_coalesced: true"}},
		{"sparse, by rows", call(utils+"_rebuild_sparse_tensor", global("torch.sparse_csr"), tuple(plain, plain, plain, ints(9, 9))),
			[]string{": torch.sparse_csr tensor", "crow_indices: " + pair, "col_indices: " + pair, "values: " + pair, "size: tuple", "size.0: 9", "size.1: 9"}},
		{"quantized", call(utils+"_rebuild_qtensor", storage("QInt8Storage", "0", 24), num(2), ints(2), ints(1), tuple(global("torch.per_tensor_affine"), real(0.5), num(3)), boolean(false), od),
			[]string{": torch.qint8 tensor", "int_repr: int8 [2] 0000", "qscheme: <global torch.per_tensor_affine>", "scale: 0.5", "zero_point: 3"}},
		{"quantized for each channel", call(utils+"_rebuild_qtensor", storage("QInt8Storage", "0", 24), num(2), ints(2), ints(1), tuple(global("torch.per_channel_affine"), plain, plain, num(0)), boolean(false), od),
			[]string{": torch.qint8 tensor", "int_repr: int8 [2] 0000", "qscheme: <global torch.per_channel_affine>", "scales: " + pair, "zero_points: " + pair, "axis: 0"}},
		{"packed below a byte", call(utils+"_rebuild_qtensor", storage("QUInt4x2Storage", "0", 4), num(0), ints(8), ints(1), tuple(global("torch.per_tensor_affine"), real(0.5), num(3)), boolean(false), od),
			[]string{": torch.quint4x2 tensor", "packed: uint8 [4] 00000000", "qscheme: <global torch.per_tensor_affine>", "scale: 0.5", "zero_point: 3"}},
		{"no data", call(utils+"_rebuild_meta_tensor_no_storage", global("torch.float16"), ints(3, 4), ints(4, 1), boolean(false)),
			[]string{": meta tensor", "dtype: <torch.dtype torch.float16>", "size: tuple", "size.0: 3", "size.1: 4", "stride: tuple", "stride.0: 4", "stride.1: 1", "requires_grad: false"}},
		{"nested", call(utils+"_rebuild_nested_tensor", plain, plain, plain, plain),
			[]string{": nested tensor", "buffer: " + pair, "sizes: " + pair, "strides: " + pair, "storage_offsets: " + pair}},
		{"a function that nobody knows", call(utils+"_rebuild_tensor_v9", plain), []string{": torch._utils._rebuild_tensor_v9", "0: " + pair}},

		{"too few arguments", call(utils+"_rebuild_tensor", st), []string{"error 4 arguments expected, not 1"}},
		{"too many arguments", v2(st, num(0), ints(2), ints(1), boolean(false), od, none(), none()), []string{"error 6 or 7 arguments expected, not 8"}},
		{"an offset of text", v2(st, str("0"), ints(2), ints(1), boolean(false), od), []string{"error the offset must be an integer, not '0'"}},
		{"a size of text", v2(st, num(0), str("2"), ints(1), boolean(false), od), []string{"error size and stride must be tuples of at most 64 integers, not '2' and (1,)"}},
		{"a size of floats", v2(st, num(0), tuple(real(2)), ints(1), boolean(false), od), []string{"error size and stride must be tuples of at most 64 integers, not (2.0,) and (1,)"}},
		{"a storage that is none", v2(num(1), num(0), ints(2), ints(1), boolean(false), od), []string{"error storage expected, not an int"}},
		{"flags of another kind", v2(st, num(0), ints(2), ints(1), num(1), od), []string{"error requires_grad must be a bool, not 1"}},
		{"a flag that nobody knows", v2(st, num(0), ints(2), ints(1), boolean(false), od, dict(str("mirror"), boolean(true))), []string{"error metadata 'mirror' is not known"}},
		{"what cannot be negated", v2(storage("LongStorage", "0", 3), num(0), ints(2), ints(1), boolean(false), od, dict(str("neg"), boolean(true))), []string{"error a view of int64 cannot be conjugated or negated"}},
		{"a dtype that is none", call(utils+"_rebuild_tensor_v3", st, num(0), ints(2), ints(1), boolean(false), od, global("os.float32")), []string{"error os.float32 is not a dtype"}},
		{"a class that only sounds like a storage", v2(persistent(tuple(str("storage"), global("evil.FloatStorage"), str("0"), str("cpu"), num(6))), num(0), ints(2), ints(1), boolean(false), od), []string{"error evil.FloatStorage is not a storage class"}},
		{"state on a tensor", with(plain, dict(str("a"), num(1))), []string{"error a tensor has neither state nor items"}},
		{"quantized by nothing", call(utils+"_rebuild_qtensor", storage("QInt8Storage", "0", 24), num(2), ints(2), ints(1), tuple(), boolean(false), od), []string{"error quantizer parameters expected, not ()"}},
		{"a view past the end", floats("0", 6, 5, []int64{2}, []int64{1}), []string{"error view of elements 5 to 6 reaches outside its storage, which holds 6 (24 bytes)"}},
		{"strides that go back", v2(st, num(5), ints(2), ints(-1), boolean(false), od), []string{"error stride [-1]: torch has no negative ones"}},
	} {
		c, err := open(archive(t, tt.value, float32s(6)))
		if want, ok := strings.CutPrefix(tt.want[0], "error "); ok {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "at byte ") {
				t.Errorf("%s: error %v, want %q and where it is", tt.why, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		checkLines(t, tt.why, c.Tree, tt.want...)
		back := mustOpen(t, rewritten(t, c.Tree))
		checkLines(t, tt.why+", rewritten", back.Tree, tt.want...)
	}
}
