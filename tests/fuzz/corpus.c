/*
 * corpus.c -- in place of libFuzzer: feeds a target all files of tests/fuzz/corpus/NAME; prints
 * TAP.
 *
 * NAME is what follows the "corpus_" in the name of the program. Run it from the top of the tree.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of two that fail the first is named, so that they fail in the same order everywhere. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static uint8_t *content(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    long end;

    if (f && fseek(f, 0, SEEK_END) == 0 && (end = ftell(f)) >= 0 &&
        (data = malloc((size_t)end + 1))) {
        rewind(f);
        *size = fread(data, 1, (size_t)end, f);
    }
    if (f)
        fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    const char *name = strstr(argv[0], "corpus_");
    FILE *tap = fdopen(dup(STDOUT_FILENO), "w"); /* a target may silence stdout */
    char folder[4096], path[8192], *top = getcwd(NULL, 0);
    struct dirent **files = NULL;
    int n = -1;

    if (name && tap && top) {
        snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top, name + strlen("corpus_"));
        n = scandir(folder, &files, is_file, by_name);
    }
    if (n <= 0 || LLVMFuzzerInitialize(&argc, &argv) != 0)
        return 1;
    for (int i = 0; i < n; i++) {
        size_t size = 0;

        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        fprintf(tap, "# %s\n", path); /* the last one, if this is the end */
        fflush(tap);
        uint8_t *data = content(path, &size);
        if (!data)
            return 1;
        LLVMFuzzerTestOneInput(data, size);
        free(data);
        free(files[i]);
    }
    fprintf(tap, "ok 1 - %s: all %d files of its corpus\n1..1\n", name + strlen("corpus_"), n);
    free(files);
    free(top);
    return fclose(tap) == 0 ? 0 : 1;
}
