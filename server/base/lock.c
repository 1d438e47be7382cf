#include "base/lock.h"

_Thread_local volatile sig_atomic_t locks_held;
