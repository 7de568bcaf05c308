/* Reorder the ranks of an MPI job by a file of `tiger ranks --emit permutation`: mpirun -n 64 ./reorder FILE.
 *
 * A line of the file is `RANK HOST`. Processes find their lines by the name of their host, in whatever order the
 * launcher has started the hosts; those on a host that is not planned, or that has too many, take what is left, and it
 * is said. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME MPI_MAX_PROCESSOR_NAME

/* Return whether two names of a host are the same up to the domain, which some launchers and systems add; addresses
 * are compared whole. */
static int same(const char *a, const char *b) {
    size_t length = strcspn(a, ".");
    if (strspn(a, "0123456789") == length)
        return !strcmp(a, b);
    return length == strcspn(b, ".") && !strncmp(a, b, length);
}

int main(int argc, char **argv) {
    int rank, size, lines = 0, length, lost = 0, named = 1, mine;
    char host[NAME] = "", text[NAME + 32];
    MPI_Comm ordered;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    char(*hosts)[NAME] = malloc((size_t)size * NAME), (*planned)[NAME] = malloc((size_t)size * NAME);
    int *ranks = malloc(sizeof(int) * size), *line_of = malloc(sizeof(int) * size), *taken = calloc(size, sizeof(int));
    MPI_Allgather(host, NAME, MPI_CHAR, hosts, NAME, MPI_CHAR, MPI_COMM_WORLD);

    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    for (; file && fgets(text, sizeof text, file); lines++)
        if (lines < size)
            switch (sscanf(text, "%d %s", &ranks[lines], strcpy(planned[lines], ""))) {
            case 2:
                break;
            case 1:
                named = 0;
                break;
            default:
                fprintf(stderr, "expected a rank on line %d, got %s", lines + 1, text);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    if (lines != size) {
        fprintf(stderr, "expected a file with a line for each of %d processes, got %d\n", size, lines);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);

    /* From the line of the process before on, as both mostly go host by host. */
    for (int process = 0, begin = 0; process < size; process++) {
        line_of[process] = -1;
        for (int k = 0, line = begin; k < size && line_of[process] < 0; k++, line = (line + 1) % size)
            if (!taken[line] && same(planned[line], hosts[process]))
                taken[line] = 1, line_of[process] = line, begin = (line + 1) % size;
    }
    for (int process = 0, line = 0; process < size; process++)
        if (line_of[process] < 0) {
            while (taken[line])
                line++;
            taken[line] = 1, line_of[process] = line, lost++;
        }
    if (lost && named && rank == 0)
        fprintf(stderr, "%d of %d processes are on other hosts than planned\n", lost, size);

    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks[line_of[rank]], &ordered);
    MPI_Comm_rank(ordered, &mine);
    printf("process %d on %s is rank %d\n", rank, host, mine);
    MPI_Finalize();
    return 0;
}
