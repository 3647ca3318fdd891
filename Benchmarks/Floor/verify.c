// What OpenSSL takes to verify a chain of three certificates for a host.
//
//   verify ROOT AUTHORITY LEAF HOST     (files in DER)
//
// Asked in lines: "judge N" judges certificates that are read already, N times, "read N" reads them first each time. Each is
// answered with the same word and N durations in microseconds.
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bytes {
    unsigned char *start;
    long count;
};

static struct bytes read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    struct bytes bytes = {malloc(65536), 0};
    bytes.count = (long)fread(bytes.start, 1, 65536, file);
    fclose(file);
    return bytes;
}

static X509 *parse(struct bytes bytes) {
    const unsigned char *start = bytes.start;
    X509 *certificate = d2i_X509(NULL, &start, bytes.count);
    if (certificate == NULL) exit(1);
    return certificate;
}

static void judge(X509 *root, X509 *authority, X509 *leaf, const char *host) {
    X509_STORE *store = X509_STORE_new();
    X509_STORE_add_cert(store, root);
    STACK_OF(X509) *untrusted = sk_X509_new_null();
    sk_X509_push(untrusted, authority);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, store, leaf, untrusted);
    X509_STORE_CTX_set_default(context, "ssl_server");
    X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(context), host, 0);
    if (X509_verify_cert(context) != 1) {
        fprintf(stderr, "%s\n", X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
        exit(1);
    }
    X509_STORE_CTX_free(context);
    sk_X509_free(untrusted);
    X509_STORE_free(store);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: verify ROOT AUTHORITY LEAF HOST\n");
        return 64;
    }
    struct bytes files[3] = {read_file(arguments[1]), read_file(arguments[2]), read_file(arguments[3])};
    X509 *read[3] = {parse(files[0]), parse(files[1]), parse(files[2])};
    char word[16];
    int turns;
    while (scanf("%15s %d", word, &turns) == 2) {
        int reads = strcmp(word, "read") == 0;
        printf("%s", word);
        for (int turn = 0; turn < turns; turn++) {
            double start = now();
            if (reads) {
                X509 *fresh[3] = {parse(files[0]), parse(files[1]), parse(files[2])};
                judge(fresh[0], fresh[1], fresh[2], arguments[4]);
                for (int place = 0; place < 3; place++) X509_free(fresh[place]);
            } else {
                judge(read[0], read[1], read[2], arguments[4]);
            }
            printf(" %.3f", now() - start);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
