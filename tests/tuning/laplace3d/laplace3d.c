// Jacobi's method for Laplace's equation, in blocks of BLOCK_X by BLOCK_Y cells.
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
static void sweep(int k, int jj, int ii) {
    for (int j = jj; j < N - 1 && j < jj + BLOCK_Y; j++)
        for (int i = ii; i < N - 1 && i < ii + BLOCK_X; i++)
            b[k][j][i] = (a[k][j][i - 1] + a[k][j][i + 1] + a[k][j - 1][i] + a[k][j + 1][i] + a[k - 1][j][i] +
                          a[k + 1][j][i]) / 6;
}
int main(void) {
    for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) a[k][j][i] = b[k][j][i] = (i == 0 || j == 0 || k == 0);
    for (int s = 0; s < STEPS; s++) {
        for (int k = 1; k < N - 1; k++)
            for (int jj = 1; jj < N - 1; jj += BLOCK_Y)
                for (int ii = 1; ii < N - 1; ii += BLOCK_X) sweep(k, jj, ii);
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = 1; i < N - 1; i++) a[k][j][i] = b[k][j][i];
    }
    printf("%g\n", a[N / 2][N / 2][1]);
    return 0;
}
