/* Virtual time for user-mode Linux: preloaded into linux.uml, it answers for the host's clock and timer.
 *
 * Debian's kernel has no time-travel mode, and a kernel that runs by the host's clock is late whenever the host is
 * busy. Here the guest's clock stands still while the guest works and jumps to its next timer when it is idle. A run
 * then takes as long as its work takes, and what it measures does not depend on the host's speed or load.
 *
 * Boot code measures the processor against the clock, so the guest boots in real time. The guest's program asks for
 * virtual time by opening a file called START.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
/* A look at the clock costs this much, so that loops that wait for time to pass end. */
#define LOOK 20
static const char START[] = "/begin-virtual-time";

static int virtual_time;
static long long now;
static long long deadline; /* 0: no timer is armed */
static long long period;
static timer_t real_timer;
static int has_timer;

static long long ns(const struct timespec *t) { return t->tv_sec * SECOND + t->tv_nsec; }

static struct timespec timespec_of(long long t) {
    struct timespec result = {.tv_sec = t / SECOND, .tv_nsec = t % SECOND};
    return result;
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void interrupt(void) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGALRM); }

static void expire(void) {
    deadline = period ? deadline + period : 0;
    interrupt();
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!virtual_time || clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, out);
    now += LOOK;
    *out = timespec_of(now);
    if (deadline && now >= deadline)
        expire();
    return 0;
}

int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    static int (*create)(clockid_t, struct sigevent *, timer_t *);
    if (!create)
        create = real("timer_create");
    int rc = create(clock, event, timer);
    real_timer = *timer;
    has_timer = rc == 0;
    return rc;
}

int timer_gettime(timer_t timer, struct itimerspec *out) {
    static int (*get)(timer_t, struct itimerspec *);
    if (!get)
        get = real("timer_gettime");
    if (!virtual_time)
        return get(timer, out);
    out->it_interval = timespec_of(period);
    out->it_value = timespec_of(!deadline ? 0 : deadline > now ? deadline - now : 1);
    return 0;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    static int (*set)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    if (!set)
        set = real("timer_settime");
    if (!virtual_time)
        return set(timer, flags, new, old);
    if (old)
        timer_gettime(timer, old);
    long long value = ns(&new->it_value);
    period = ns(&new->it_interval);
    deadline = !value ? 0 : flags & TIMER_ABSTIME ? value : now + value;
    return 0;
}

/* The idle loop, with SIGALRM blocked: instead of waiting for the timer, go to its time. */
int sigsuspend(const sigset_t *mask) {
    if (virtual_time && deadline) {
        if (now < deadline)
            now = deadline;
        expire();
    }
    return (int)syscall(SYS_rt_sigsuspend, mask, _NSIG / 8);
}

static void begin(void) {
    struct itimerspec rest = {0}, none = {0};
    struct timespec t;
    if (virtual_time)
        return;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    if (has_timer) {
        timer_gettime(real_timer, &rest);
        timer_settime(real_timer, 0, &none, NULL);
    }
    virtual_time = 1;
    now = ns(&t);
    period = ns(&rest.it_interval);
    deadline = ns(&rest.it_value) ? now + ns(&rest.it_value) : 0;
}

/* What the machine starts on the host does not outlive it. */
struct start {
    int (*function)(void *);
    void *argument;
};

static int started(void *given) {
    struct start start = *(struct start *)given;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return start.function(start.argument);
}

int clone(int (*function)(void *), void *stack, int flags, void *argument, ...) {
    static int (*clone_)(int (*)(void *), void *, int, void *, ...);
    if (!clone_)
        clone_ = real("clone");
    struct start *start = malloc(sizeof *start); /* the child may still read it after this returns */
    if (!start)
        return -1;
    *start = (struct start){function, argument};
    return clone_(started, stack, flags, start);
}

static int opened(const char *path, int flags, mode_t mode) {
    size_t length = strlen(path), tail = sizeof START - 1;
    if (length >= tail && !strcmp(path + length - tail, START))
        begin();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* The mode is read even where none was given, as nothing is done with it then. */
#define OPEN(name)                                                                                                 \
    int name(const char *path, int flags, ...) {                                                                   \
        va_list rest;                                                                                              \
        va_start(rest, flags);                                                                                     \
        mode_t mode = va_arg(rest, mode_t);                                                                        \
        va_end(rest);                                                                                              \
        return opened(path, flags, mode);                                                                          \
    }

OPEN(open)
OPEN(open64)
