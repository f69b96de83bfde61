package pt

import "slices"

// Python 2's names for what Python 3 has elsewhere. A pickle below protocol 3
// that Python 3 wrote uses them too, and Python 3 maps them back when it reads
// one; the types that are shown are the ones that Python 3 would make. (The facts
// are those of CPython's Lib/_compat_pickle.py.)
var (
	python2Modules = map[string]string{
		"__builtin__": "builtins", "copy_reg": "copyreg", "Queue": "queue", "ConfigParser": "configparser",
		"repr": "reprlib", "anydbm": "dbm", "cPickle": "pickle", "cProfile": "profile", "cStringIO": "io",
		"StringIO": "io", "thread": "_thread", "dummy_thread": "_dummy_thread", "SocketServer": "socketserver",
		"UserDict": "collections", "UserList": "collections", "UserString": "collections", "commands": "subprocess",
		"exceptions": "builtins", "httplib": "http.client", "Cookie": "http.cookies", "cookielib": "http.cookiejar",
		"urllib2": "urllib.request", "urlparse": "urllib.parse", "robotparser": "urllib.robotparser",
		"xmlrpclib": "xmlrpc.client", "HTMLParser": "html.parser", "_winreg": "winreg", "whichdb": "dbm",
	}
	python2Names = map[string]string{
		"__builtin__.xrange": "builtins.range", "__builtin__.reduce": "functools.reduce", "__builtin__.intern": "sys.intern",
		"__builtin__.unichr": "builtins.chr", "__builtin__.unicode": "builtins.str", "__builtin__.long": "builtins.int",
		"itertools.izip": "builtins.zip", "itertools.imap": "builtins.map", "itertools.ifilter": "builtins.filter",
		"itertools.ifilterfalse": "itertools.filterfalse", "itertools.izip_longest": "itertools.zip_longest",
		"UserDict.IterableUserDict": "collections.UserDict", "exceptions.StandardError": "builtins.Exception",
		"urllib.urlretrieve": "urllib.request.urlretrieve", "urllib.quote": "urllib.parse.quote",
		"multiprocessing.Process": "multiprocessing.context.Process",
	}
)

// partlyMoved is the modules that stayed, of which some names moved.
var partlyMoved = []string{"itertools", "urllib", "multiprocessing"}

// python3Name is the dotted name that Python 3 gives a global.
func python3Name(module, name string) string {
	full := module + "." + name
	now, moved := python2Modules[module]
	if !moved && !slices.Contains(partlyMoved, module) {
		return full
	}
	if other, ok := python2Names[full]; ok {
		return other
	}
	if moved {
		return now + "." + name
	}
	return full
}
