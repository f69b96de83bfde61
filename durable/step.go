package durable

// onStep, where a test has set it, is called after each step of a write.
var onStep func(name string)

func step(name string) {
	if onStep != nil {
		onStep(name)
	}
}
