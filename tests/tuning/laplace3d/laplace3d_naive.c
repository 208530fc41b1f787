// Jacobi's method for Laplace's equation, cell by cell in the order of the slowest memory accesses.
#include <stdio.h>
#ifndef BLOCK_X
#define BLOCK_X 32
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif
#if BLOCK_X * BLOCK_Y > 512
#error "more than 512 threads in a block"
#endif
enum { N = 48, STEPS = 2 };
static float a[N][N][N], b[N][N][N];
int main(void) {
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) a[k][j][i] = b[k][j][i] = (i == 0 || j == 0 || k == 0);
    for (int s = 0; s < STEPS; s++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    b[k][j][i] = (a[k][j][i - 1] + a[k][j][i + 1] + a[k][j - 1][i] + a[k][j + 1][i] + a[k - 1][j][i] +
                                  a[k + 1][j][i]) / 6;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++) a[k][j][i] = b[k][j][i];
    }
    printf("%g\n", a[N / 2][N / 2][1]);
    return 0;
}
