prefix=gen_prefix
includedir=${prefix}/include
libdir=${prefix}/lib

Name: kernbench
Description: How long memory accesses and kernels take on a multi-chiplet accelerator
Version: gen_version
Cflags: -I${includedir} -fstack-clash-protection
Libs: -L${libdir} -lkernbench
Libs.private: gen_private -lm -lpthread
