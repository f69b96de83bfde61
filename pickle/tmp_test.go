package pickle
import ("testing";"bytes";"runtime";"runtime/debug")
func BenchmarkNoGC(b *testing.B) {
	in := stateDict(benchTensors)
	debug.SetGCPercent(-1)
	defer debug.SetGCPercent(100)
	r := bytes.NewReader(in)
	b.ResetTimer()
	for i:=0;i<b.N;i++ {
		b.StopTimer(); runtime.GC(); b.StartTimer()
		if _, err := Read(r,0,int64(len(in))); err!=nil {b.Fatal(err)}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTensors, "ns/tensor")
}
