prefix=gen_prefix
includedir=${prefix}/include
libdir=${prefix}/lib

Name: gen_name
Description: The topology gen_name, to be used with kernbench
Version: gen_version
Requires: kernbench = gen_version
Cflags: -I${includedir}
Libs: -L${libdir} -l[[]]gen_name
