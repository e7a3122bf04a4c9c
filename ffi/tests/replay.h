/* Replays the conformance vectors; needs no C library, so that firmware can do it too. */
#ifndef REPLAY_H
#define REPLAY_H

struct replay_counts {
    int passed, failed;
};

/* Runs every scenario; each one that goes otherwise than expected is told to `failed`. */
struct replay_counts replay(void (*failed)(const char *scenario, unsigned step, const char *what));

#endif
