// Lets a module that is linked on a newer Linux load on glibc 2.28 (manylinux_2_28). Functions have
// got new versions in glibc since, and a linked file requires the version of the system it was
// linked on. The module and the static libstdc++ in it find the functions of this file first, which
// are visible in the module only and call the first version. tests/python/test_wheel.py finds
// versions that are missing.
#include <climits>  // which defines __GLIBC__, and declares none of the functions

#if defined(__GLIBC__) && defined(__x86_64__)
#define SMELT_FIRST "GLIBC_2.2.5"
#define SMELT_STAT 1
#elif defined(__GLIBC__) && defined(__aarch64__)
#define SMELT_FIRST "GLIBC_2.17"
#define SMELT_STAT 0
#endif

#ifdef SMELT_FIRST
#define SMELT_INSIDE [[gnu::visibility("hidden")]]
#define SMELT_IMPORT(result, name, parameters)            \
  asm(".symver first_" #name ", " #name "@" SMELT_FIRST); \
  result first_##name parameters;
#define SMELT_REPLACE(result, name, parameters, arguments) \
  SMELT_IMPORT(result, name, parameters)                   \
  SMELT_INSIDE result name parameters { return first_##name arguments; }

extern "C" {
SMELT_REPLACE(double, exp, (double x), (x))
SMELT_REPLACE(double, exp2, (double x), (x))
SMELT_REPLACE(double, log, (double x), (x))
SMELT_REPLACE(double, log2, (double x), (x))
SMELT_REPLACE(double, pow, (double x, double y), (x, y))
SMELT_REPLACE(double, hypot, (double x, double y), (x, y))

// These were in libdl and libpthread until 2.34.
SMELT_REPLACE(int, dladdr, (const void* address, void* found), (address, found))
SMELT_REPLACE(char*, dlerror, (), ())
SMELT_REPLACE(void*, dlopen, (const char* file, int flags), (file, flags))
SMELT_REPLACE(void*, dlsym, (void* library, const char* name), (library, name))
SMELT_REPLACE(int, pthread_create, (void* made, const void* attributes, void* (*f)(void*), void* argument),
              (made, attributes, f, argument))
SMELT_REPLACE(int, pthread_detach, (unsigned long thread), (thread))
SMELT_REPLACE(int, pthread_once, (void* once, void (*f)()), (once, f))
SMELT_REPLACE(int, pthread_rwlock_rdlock, (void* lock), (lock))
SMELT_REPLACE(int, pthread_rwlock_wrlock, (void* lock), (lock))
SMELT_REPLACE(int, pthread_rwlock_unlock, (void* lock), (lock))

// Until 2.33 programs called these, with a version of struct stat.
SMELT_IMPORT(int, __xstat, (int, const char*, void*))
SMELT_IMPORT(int, __lxstat, (int, const char*, void*))
SMELT_IMPORT(int, __fxstat, (int, int, void*))
SMELT_IMPORT(int, __fxstat64, (int, int, void*))
SMELT_INSIDE int stat(const char* path, void* status) { return first___xstat(SMELT_STAT, path, status); }
SMELT_INSIDE int lstat(const char* path, void* status) { return first___lxstat(SMELT_STAT, path, status); }
SMELT_INSIDE int fstat(int file, void* status) { return first___fxstat(SMELT_STAT, file, status); }
SMELT_INSIDE int fstat64(int file, void* status) { return first___fxstat64(SMELT_STAT, file, status); }

// Since 2.32: whether std::shared_ptr may count without atomic operations. Here it may not.
SMELT_INSIDE extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}
#endif
