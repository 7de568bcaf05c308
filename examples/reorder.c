/* Reorder the ranks of an MPI job by a file of `tiger ranks --emit permutation`: mpirun -n 64 ./reorder FILE. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank, size, lines = 0, next, key = -1, mine;
    MPI_Comm ordered;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    for (; file && fscanf(file, "%d", &next) == 1; lines++)
        if (lines == rank)
            key = next;
    if (lines != size) {
        fprintf(stderr, "expected a file with a line for each of %d processes, got %d\n", size, lines);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &ordered);
    MPI_Comm_rank(ordered, &mine);
    printf("process %d is rank %d\n", rank, mine);
    MPI_Finalize();
    return 0;
}
