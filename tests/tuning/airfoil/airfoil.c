// Euler equations on cells of an unstructured mesh: the five loops of OP2's airfoil, spread over threads in partitions
// of so many elements. Cells have the density, momentum and energy of a gas between two walls.
// Arguments: the partition sizes of adt_calc, res_calc and bres_calc. Prints the residual, which depends on none.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { NX = 96, NY = 32, CELLS = NX * NY, COLOURS = 4, WALLS = 2 * NX, STEPS = 4 };
typedef struct { double v[4]; } State;
typedef struct { int left, right; double nx, ny; } Edge;
static const double gamma_ = 1.4, cfl = 0.4;
static State q[CELLS], q_old[CELLS], res[CELLS];
static double adt[CELLS];
static Edge edges[COLOURS][CELLS];  // no cell has two edges of one colour
static int count[COLOURS];
static struct { int cell; double ny; } walls[WALLS];
static double pressure(State s) { return (gamma_ - 1) * (s.v[3] - 0.5 * (s.v[1] * s.v[1] + s.v[2] * s.v[2]) / s.v[0]); }
static State flux(State s, double nx, double ny) {
    double u = (s.v[1] * nx + s.v[2] * ny) / s.v[0], p = pressure(s);
    return (State){{s.v[0] * u, s.v[1] * u + p * nx, s.v[2] * u + p * ny, (s.v[3] + p) * u}};
}
static void make_mesh(void) {
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            int cell = y * NX + x;
            double hill = exp(-0.01 * ((x - 30.0) * (x - 30.0) + (y - 16.0) * (y - 16.0)));
            q[cell] = (State){{1 + 0.2 * hill, 0.4, 0.0, 2.5 + 0.5 * hill}};
            edges[x % 2][count[x % 2]++] = (Edge){cell, y * NX + (x + 1) % NX, 1, 0};
            if (y + 1 < NY) edges[2 + y % 2][count[2 + y % 2]++] = (Edge){cell, cell + NX, 0, 1};
        }
    for (int x = 0; x < NX; x++) {
        walls[x].cell = x, walls[x].ny = -1;
        walls[NX + x].cell = CELLS - NX + x, walls[NX + x].ny = 1;
    }
}
int main(int argc, char **argv) {
    if (argc != 4) return 2;
    int part_1 = atoi(argv[1]), part_2 = atoi(argv[2]), part_3 = atoi(argv[3]);
    double residual = 0;
    make_mesh();
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for
        for (int i = 0; i < CELLS; i++) q_old[i] = q[i];  // save_soln
#pragma omp parallel for schedule(dynamic, part_1)
        for (int i = 0; i < CELLS; i++) {  // adt_calc
            double sound = sqrt(gamma_ * pressure(q[i]) / q[i].v[0]);
            adt[i] = (fabs(q[i].v[1]) + fabs(q[i].v[2])) / q[i].v[0] + 2 * sound;
        }
        for (int colour = 0; colour < COLOURS; colour++) {
#pragma omp parallel for schedule(dynamic, part_2)
            for (int i = 0; i < count[colour]; i++) {  // res_calc
                Edge e = edges[colour][i];
                State a = flux(q[e.left], e.nx, e.ny), b = flux(q[e.right], e.nx, e.ny);
                double speed = fmax(adt[e.left], adt[e.right]);
                for (int k = 0; k < 4; k++) {
                    double f = 0.5 * (a.v[k] + b.v[k]) - 0.5 * speed * (q[e.right].v[k] - q[e.left].v[k]);
                    res[e.left].v[k] += f;
                    res[e.right].v[k] -= f;
                }
            }
        }
#pragma omp parallel for schedule(dynamic, part_3)
        for (int i = 0; i < WALLS; i++) res[walls[i].cell].v[2] += walls[i].ny * pressure(q[walls[i].cell]);  // bres_calc
        residual = 0;
#pragma omp parallel for reduction(max : residual)
        for (int i = 0; i < CELLS; i++)  // update
            for (int k = 0; k < 4; k++) {
                double change = cfl / adt[i] * res[i].v[k];
                q[i].v[k] = q_old[i].v[k] - change;
                residual = fmax(residual, fabs(change));
                res[i].v[k] = 0;
            }
    }
    printf("%.17g\n", residual);
    return isfinite(residual) ? 0 : 1;
}
