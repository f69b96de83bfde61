package pickle

// Opcodes that a caller who writes its own objects needs beside those that
// weights_only loading accepts.

// Pop drops the topmost value.
func (w *Writer) Pop() { w.emit(opPop) }

// PopMark drops the values above the mark, and the mark.
func (w *Writer) PopMark() { w.emit(opPopMark) }

// NewObjEx is cls.__new__(cls, *args, **kwargs) of the three topmost values. It
// is of protocol 4, and accepted anywhere.
func (w *Writer) NewObjEx() { w.emit(opNewObjEx) }

// AddItems adds the values above the mark to the set below it. It is of protocol
// 4, and accepted anywhere.
func (w *Writer) AddItems() { w.emit(opAddItems) }
