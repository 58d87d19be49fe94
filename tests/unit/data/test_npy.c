/*
 * test_npy.c -- .npy files: the bytes that numpy writes, round trips, and what is refused.
 *
 * link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 */
#include "support/failing.h"
#include "support/rig.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "data/npy.h"

static char folder[] = "/tmp/test_npy.XXXXXX";
static char file[64];

static void save(const void *bytes, size_t n)
{
    FILE *out = fopen(file, "wb");

    assert_non_null(out);
    assert_true(fwrite(bytes, 1, n, out) == n);
    fclose(out);
}

/* Version, header and elements as a file. The length may be given otherwise than it is. */
static void save_npy(int major, const char *header, size_t length, const void *elements, size_t n)
{
    unsigned char bytes[4096];
    size_t at = major == 1 ? 10 : 12;

    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)major;
    bytes[7] = 0;
    for (size_t i = 8; i < at; i++)
        bytes[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(bytes + at, header, strlen(header));
    memcpy(bytes + at + strlen(header), elements, n);
    save(bytes, at + strlen(header) + n);
}

static void assert_refused(const char *text)
{
    struct npy npy;
    kb_error why = {""};

    assert_int_equal(npy_read(file, &npy, &why), KB_FILE_ERROR);
    if (strncmp(why.text, file, strlen(file)) != 0 || !strstr(why.text, text))
        fail_msg("'%s' does not say '%s'", why.text, text);
    assert_null(npy.bytes);
}

static struct npy read_file(void)
{
    struct npy npy;
    kb_error why = {""};

    if (npy_read(file, &npy, &why) != KB_OK)
        fail_msg("%s", why.text);
    return npy;
}

/* numpy 1.24, np.save() of arange(12, dtype='f4').reshape(3, 4): 64 + 64 bytes, then 48. */
static void a_file_has_the_bytes_of_numpy(void **state)
{
    static const char header[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
    float values[12];
    char bytes[256];
    FILE *in;

    (void)state;
    for (int i = 0; i < 12; i++)
        values[i] = (float)i;
    assert_int_equal(npy_write(file, KB_F32, KB_SHAPE(3, 4), values, NULL), KB_OK);
    in = fopen(file, "rb");
    assert_non_null(in);
    assert_int_equal(fread(bytes, 1, sizeof bytes, in), 128 + sizeof values);
    fclose(in);
    assert_memory_equal(bytes, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < 127; i++)
        assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, values, sizeof values);
}

/* numpy pads by a blank at least: 127 bytes and the newline would be 128, and become 192. */
static void a_header_ends_in_a_blank(void **state)
{
    const kb_shape shape = {6, {0, 10000000000, 1000000000, 1000000000, 1000000000, 1000000000}};
    struct stat st;

    (void)state;
    assert_int_equal(npy_write(file, KB_F32, shape, "", NULL), KB_OK);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 192);
}

static void every_type_and_rank_comes_back(void **state)
{
    static const kb_shape shapes[] = {
        {0, {0}}, {1, {7}}, {2, {3, 5}}, {3, {2, 3, 4}}, {6, {1, 2, 1, 3, 1, 2}}, {2, {0, 4}}};
    unsigned char bytes[8 * 24];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        for (int t = KB_F16; t <= KB_F8E5M2; t++) {
            kb_dtype want = t == KB_BF16 ? KB_U16 : t >= KB_F8E4M3 ? KB_U8 : (kb_dtype)t;
            struct npy npy;

            assert_int_equal(npy_write(file, (kb_dtype)t, shapes[i], bytes, NULL), KB_OK);
            npy = read_file();
            assert_int_equal(npy.dtype, want);
            assert_memory_equal(&npy.shape, &shapes[i], sizeof shapes[i]);
            assert_memory_equal(npy.bytes, bytes, npy.nbytes);
            npy_free(&npy);
        }
    }
}

/* Both orders are one then. */
static void one_axis_may_be_in_fortran_order(void **state)
{
    const char *header = "{'descr': '<u2', 'fortran_order': True, 'shape': (6,), }\n";
    struct npy npy;

    (void)state;
    save_npy(1, header, strlen(header), "abcdefghijkl", 12);
    npy = read_file();
    assert_int_equal(npy.shape.dim[0], 6);
    npy_free(&npy);
}

/* Any order of keys, either quote, with and without commas and blanks; versions 2.0 and 3.0. */
static void headers_may_be_written_otherwise(void **state)
{
    static const char *const headers[] = {
        "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"shape\":(2,3,),\"descr\":\"<u2\",\"fortran_order\":False}",
        "  { 'fortran_order' : False , 'shape' : ( 2 , 3 ) , 'descr' : '<u2' }  \n",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(headers); i++) {
        for (int version = 1; version <= 3; version++) {
            struct npy npy;

            save_npy(version, headers[i], strlen(headers[i]), "abcdefghijkl", 12);
            npy = read_file();
            assert_int_equal(npy.dtype, KB_U16);
            assert_int_equal(npy.shape.rank, 2);
            assert_true(npy.shape.dim[0] == 2 && npy.shape.dim[1] == 3 && npy.nbytes == 12);
            assert_memory_equal(npy.bytes, "abcdefghijkl", 12);
            npy_free(&npy);
        }
    }
}

static void what_is_no_array_of_ours_is_refused(void **state)
{
#define HEADER(descr, order, shape)                                                                \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
    static const struct {
        const char *header, *message;
    } rows[] = {
        {HEADER("'>f4'", "False", "(1,)"), "big-endian"},
        {HEADER("'<f4'", "True", "(1, 1)"), "Fortran order"},
        {HEADER("'<c8'", "False", "(1,)"), "'<c8' is none of"},
        {HEADER("'<f44444444444444444'", "False", "(1,)"), "not understood"},
        {HEADER("[('a', '<f4')]", "False", "(1,)"), "records"},
        {HEADER("4", "False", "(1,)"), "no string"},
        {HEADER("'<f4'", "0", "(1,)"), "neither True nor False"},
        {"{'fortran_order': F", "neither True nor False"},
        {"{'descr': '<\\f4', ", "not understood"},
        {"{'descr': '<\tf4', ", "not understood"},
        {HEADER("'<f4'", "False", "(a,)"), "not a list"},
        {HEADER("'<f4'", "False", "(1a,)"), "does not end"},
        {"{'shape': (1", "does not end"},
        {HEADER("'<f4'", "False", "1"), "no '('"},
        {HEADER("'<f4'", "False", "(-1,)"), "not a list"},
        {HEADER("'<f4'", "False", "(1 1)"), "does not end"},
        {HEADER("'<f4'", "False", "(1,,1)"), "not a list"},
        {HEADER("'<f4'", "False", "(1,1,1,1,1,1,1)"), "more than 6"},
        {HEADER("'<f4'", "False", "(99999999999999999999,)"), "extent of its shape is too large"},
        {HEADER("'<f4'", "False", "(4611686018427387904, 2)"), "shape is too large"},
        {HEADER("'<f4'", "False", "(2,)"), "asks for 8 bytes of elements, it has 4"},
        {HEADER("'<f4'", "False", "()") "x", "goes on"},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks one of"},
        {"{'descr': '<f4', 'descr': '<f4'}", "too much: 'descr'"},
        {"{'name': '<f4'}", "too much: 'name'"},
        {"{'descr': '<f4' 'shape': ()}", "does not end"},
        {"{'descr' '<f4'}", "no ':'"},
        {"{'descr': '<f4", "no '''"},
        {"{", "no string"},
        {"", "no '{'"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        save_npy(1, rows[i].header, strlen(rows[i].header), "1234", 4);
        assert_refused(rows[i].message);
    }
    save_npy(1, HEADER("'<f4'", "False", "()") "\0", strlen(HEADER("'<f4'", "False", "()")) + 1,
             "1234", 4);
    assert_refused("goes on");
    save_npy(4, rows[0].header, 10, "", 0);
    assert_refused("version 4.0");
    save_npy(0, rows[0].header, 10, "", 0);
    assert_refused("version 0.0");
    save("\x93NUMPY\1\7\0\0", 10);
    assert_refused("version 1.7");
    save_npy(2, rows[0].header, 1 << 20, "", 0);
    assert_refused("its header has 1048576 bytes");
    save("PK\003\004 a zip, which .npz files are", 30);
    assert_refused("no .npy file");
}

static void a_file_that_is_cut_is_refused(void **state)
{
    const char *header = HEADER("'<f4'", "False", "(1,)");
    unsigned char bytes[256];
    size_t n;
    FILE *in;

    (void)state;
    save_npy(1, header, strlen(header), "1234", 4);
    in = fopen(file, "rb");
    n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t i = 0; i < n; i++) {
        save(bytes, i);
        assert_refused(i < 10 + strlen(header) ? "ends too early" : "asks for 4 bytes");
    }
}

/* How long a pipe is cannot be known, nor that its shape is right. */
static void a_pipe_is_refused(void **state)
{
    struct npy npy;
    kb_error why = {""};
    char bytes[256], path[32];
    int ends[2];
    ssize_t n;

    (void)state;
    assert_int_equal(npy_write(file, KB_U8, KB_SHAPE(1), "x", &why), KB_OK);
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    n = (ssize_t)fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, (size_t)n), n);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(npy_read(path, &npy, &why), KB_FILE_ERROR);
    assert_non_null(strstr(why.text, "it is no regular file"));
    close(ends[0]);
}

static void what_is_no_file_is_told(void **state)
{
    kb_error why = {""};
    struct npy npy;

    (void)state;
    unlink(file);
    assert_refused("No such file");
    assert_int_equal(npy_read("/dev/null", &npy, &why), KB_FILE_ERROR);
    assert_int_equal(npy_write("/no/such/folder", KB_U8, KB_SHAPE(1), "x", &why), KB_FILE_ERROR);
    assert_string_equal(why.text, "/no/such/folder: No such file or directory");
}

/* A file that cannot be written whole leaves the one that was there, and nothing else. */
static void a_file_appears_when_it_is_whole(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(mkdir(file, 0700), 0);
    assert_int_equal(npy_write(file, KB_U8, KB_SHAPE(1), "x", NULL), KB_FILE_ERROR);
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(npy_write(file, KB_U8, KB_SHAPE(1), "x", NULL), KB_OK);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 129);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0); /* no temporary file is left in it */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void every_allocation_may_fail(void **state)
{
    uint64_t n = 0;

    (void)state;
    for (kb_status status = KB_NO_MEMORY; status != KB_OK; n++) {
        int64_t before = owned;
        kb_error why = {""};
        struct npy npy;

        blocks_left = n;
        status = npy_write(file, KB_U8, KB_SHAPE(1), "x", &why);
        if (status == KB_OK)
            status = npy_read(file, &npy, &why);
        blocks_left = UINT64_MAX;
        assert_true(status == KB_OK || status == KB_NO_MEMORY);
        assert_true(status == KB_OK || strstr(why.text, "out of memory"));
        if (status == KB_OK)
            npy_free(&npy);
        assert_true(owned == before);
    }
    assert_int_equal(n, 6); /* its place, and a name for it there; header and elements */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_the_bytes_of_numpy),
        cmocka_unit_test(a_header_ends_in_a_blank),
        cmocka_unit_test(every_type_and_rank_comes_back),
        cmocka_unit_test(headers_may_be_written_otherwise),
        cmocka_unit_test(one_axis_may_be_in_fortran_order),
        cmocka_unit_test(what_is_no_array_of_ours_is_refused),
        cmocka_unit_test(a_file_that_is_cut_is_refused),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(a_file_appears_when_it_is_whole),
        cmocka_unit_test(every_allocation_may_fail),
    };
    int failed;

    if (!mkdtemp(folder))
        return 1;
    snprintf(file, sizeof file, "%s/x.npy", folder);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    rmdir(folder);
    return failed;
}
