/* A leapfrog with exported gravity: reads FILE (x, y, z, vx, vy, vz, m for each of two numbers of particles), writes the
 * states after some steps. Compiled with -DREAL=double or float. */
#include <stdio.h>
#include <stdlib.h>

#include "gravity.h"

static void run(gravity *object, FILE *in, FILE *out, int64_t n, int steps, REAL dt) {
    REAL *state = malloc((size_t)(10 * n) * sizeof *state), *e2 = malloc((size_t)n * sizeof *e2);
    REAL *x = state, *v = state + 3 * n, *m = state + 6 * n, *a = state + 7 * n;
    if (fread(state, sizeof *state, (size_t)(7 * n), in) != (size_t)(7 * n)) exit(10);
    for (int64_t i = 0; i < n; ++i) e2[i] = (REAL)0.0625;
    for (int step = 0; step < steps; ++step) {
        for (int64_t k = 0; k < 3 * n; ++k) x[k] += dt * v[k];
        int status = gravity_send(object, n, n, x, x + n, x + 2 * n, e2, x, x + n, x + 2 * n, m);
        if (status == 0) status = gravity_execute(object, 1.5);
        if (status == 0) status = gravity_receive(object, a, a + n, a + 2 * n);
        if (status != 0) exit(20 + status);
        for (int64_t k = 0; k < 3 * n; ++k) v[k] += dt * a[k];
    }
    fwrite(state, sizeof *state, (size_t)(6 * n), out);
    free(state);
    free(e2);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    gravity *object = gravity_create(2);
    REAL a;
    if (object == NULL || gravity_execute(object, 1.0) != 3 || gravity_receive(object, &a, &a, &a) != 4) return 3;
    if (gravity_send(object, 0, 1, &a, &a, &a, &a, &a, &a, &a, &a) != 2) return 4;
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    if (in == NULL || out == NULL) return 5;
    run(object, in, out, 37, 4, (REAL)0.25);
    run(object, in, out, 1030, 4, (REAL)0.25);
    run(object, in, out, 37, 4, (REAL)0.125);
    fclose(in);
    fclose(out);
    gravity_free(object);
    return 0;
}
