/* fuzz_words.c -- libFuzzer feeds what sweep and load read: lists, patterns of endpoints, matrices.
 */
#include "cube8.h"
#include "fuzz.h"
#include "cli/in/in_lists.h"
#include "cli/in/matrix.h"

#include <string.h>

static void read_list(enum list_kind kind, const char *text)
{
    char why[LIST_WHY_BYTES] = "";
    struct list list;

    if (list_read(&list, kind, text, why)) {
        for (size_t i = 0; i < list.n; i++)
            if (list.value[i] == 0)
                abort();
    } else if (!why[0]) {
        abort();
    }
    list_free(&list);
}

/* Each endpoint is there, and its name is read back as itself. */
static void check_endpoint(void *arg, const kb_endpoint *end)
{
    char name[KB_ENDPOINT_BYTES];
    size_t len = kb_endpoint_name(end, name);
    kb_endpoint again;

    (void)arg;
    if (kb_endpoint_parse(&cube8_topology, name, len, &again, NULL) != KB_OK ||
        memcmp(&again, end, sizeof again) != 0)
        abort();
}

static void read_matrix(const uint8_t *data, size_t size)
{
    struct cli cli = {.topo = &cube8_topology, .program = "fuzz"};
    struct matrix matrix = {0};
    char path[64];
    int fd = file_of(data, size, path);

    kb_topology_info(&cube8_topology, &cli.info);
    matrix_read(&matrix, &cli, path);
    matrix_free(&matrix);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (enum list_kind kind = LIST_COUNTS; kind <= LIST_RATES; kind++)
        read_list(kind, text);
    kb_endpoint_select(&cube8_topology, text, size, check_endpoint, NULL, NULL);
    read_matrix(data, size);
    free(text);
    return 0;
}
