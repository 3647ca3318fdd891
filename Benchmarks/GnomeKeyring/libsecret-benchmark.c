// What a program pays that keeps its secrets with the Secret Service, through libsecret.
//
//   libsecret-benchmark fill COUNT
//                           store the items 0 to COUNT - 1
//   libsecret-benchmark measure COUNT STORES LOOKUPS SEARCHES OBJECTSEARCHES
//                           the service holds the items 0 to COUNT - 1
//
// `measure` prints a line each for "store", "look-up", "search" and "search-objects": the word, then every duration in
// microseconds. A store adds one item, a look-up gets the secret of one. A search gets every tenth item with its secret,
// in the quickest way that libsecret has: it asks for the names of the items, then for all secrets in one call, and
// gets no attributes. A search for objects does what its documentation shows to programs, secret_password_search_sync,
// which makes an object of each hit and asks the service for its properties. What is stored is removed again.
//
// Build: cc -O2 -Wall -Wextra -o libsecret-benchmark libsecret-benchmark.c $(pkg-config --cflags --libs libsecret-1)
#define _GNU_SOURCE
#define SECRET_API_SUBJECT_TO_CHANGE  // the calls that take names of items
#include <libsecret/secret.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char secret[] = "a secret of forty bytes, as in every row";

static const SecretSchema schema = {
    .name = "org.swift-keychain.Benchmark",
    .flags = SECRET_SCHEMA_NONE,
    .attributes = {
        {"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
    },
};

struct item {
    char account[32];
    char service[32];
    char label[64];
};

/// The same names as in KeychainBenchmark's `compare`; there are ten services.
static struct item item_of_number(long number) {
    struct item item;
    snprintf(item.account, sizeof item.account, "account-%07ld", number);
    snprintf(item.service, sizeof item.service, "service-%ld", number % 10);
    snprintf(item.label, sizeof item.label, "Label of %s", item.account);
    return item;
}

static _Noreturn void fail(const char *what, const GError *error) {
    fprintf(stderr, "libsecret-benchmark: %s: %s\n", what, error == NULL ? "not as expected" : error->message);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static uint64_t random_number(void) {  // splitmix64
    static uint64_t state = 0x9E3779B97F4A7C15u;
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// MARK: The calls; each returns how long it took

static double store(long number) {
    struct item item = item_of_number(number);
    GError *error = NULL;
    double start = now();
    gboolean stored = secret_password_store_sync(
        &schema, SECRET_COLLECTION_DEFAULT, item.label, secret, NULL, &error, "service", item.service, "account",
        item.account, NULL);
    double time = now() - start;
    if (!stored) {
        fail("storing", error);
    }
    return time;
}

static void clear(long number) {
    struct item item = item_of_number(number);
    GError *error = NULL;
    if (!secret_password_clear_sync(
            &schema, NULL, &error, "service", item.service, "account", item.account, NULL)) {
        fail("removing", error);
    }
}

static double look_up(long number) {
    struct item item = item_of_number(number);
    GError *error = NULL;
    double start = now();
    gchar *found = secret_password_lookup_sync(
        &schema, NULL, &error, "service", item.service, "account", item.account, NULL);
    double time = now() - start;
    if (found == NULL || strcmp(found, secret) != 0) {
        fail("looking up", error);
    }
    secret_password_free(found);
    return time;
}

static void require_secret(SecretValue *value, const GError *error) {
    if (value == NULL || strcmp(secret_value_get_text(value), secret) != 0) {
        fail("a search's secret", error);
    }
}

static double search(SecretService *service, long number, long expected) {
    struct item item = item_of_number(number);
    GHashTable *attributes = secret_attributes_build(&schema, "service", item.service, NULL);
    GError *error = NULL;
    gchar **unlocked = NULL;
    gchar **locked = NULL;
    double start = now();
    if (!secret_service_search_for_dbus_paths_sync(
            service, &schema, attributes, NULL, &unlocked, &locked, &error)) {
        fail("searching", error);
    }
    GHashTable *found = secret_service_get_secrets_for_dbus_paths_sync(
        service, (const gchar **)unlocked, NULL, &error);
    double time = now() - start;
    if (found == NULL || (long)g_hash_table_size(found) != expected) {
        fail("the number of hits", error);
    }
    GHashTableIter each;
    gpointer value = NULL;
    g_hash_table_iter_init(&each, found);
    while (g_hash_table_iter_next(&each, NULL, &value)) {
        require_secret(value, NULL);
    }
    g_hash_table_unref(found);
    g_hash_table_unref(attributes);
    g_strfreev(unlocked);
    g_strfreev(locked);
    return time;
}

static double search_for_objects(long number, long expected) {
    struct item item = item_of_number(number);
    GError *error = NULL;
    long count = 0;
    double start = now();
    GList *found = secret_password_search_sync(
        &schema, SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS, NULL, &error, "service", item.service, NULL);
    for (GList *each = found; each != NULL; each = each->next) {
        SecretValue *value = secret_retrievable_retrieve_secret_sync(each->data, NULL, &error);
        require_secret(value, error);
        secret_value_unref(value);
        count++;
    }
    double time = now() - start;
    if (count != expected) {
        fail("the number of hits", error);
    }
    g_list_free_full(found, g_object_unref);
    return time;
}

// MARK: Commands

static void measure(long count, long stores, long look_ups, long searches, long object_searches) {
    // The first call also starts the session with the service; a program pays that once.
    look_up(0);
    printf("store");
    for (long place = 0; place < stores; place++) {
        printf(" %.1f", store(count + place));
    }
    for (long place = 0; place < stores; place++) {
        clear(count + place);
    }
    printf("\nlook-up");
    for (long place = 0; place < look_ups; place++) {
        printf(" %.1f", look_up((long)(random_number() % (uint64_t)count)));
    }
    GError *error = NULL;
    SecretService *service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
    if (service == NULL) {
        fail("the service", error);
    }
    printf("\nsearch");
    for (long place = 0; place < searches; place++) {
        printf(" %.1f", search(service, place, count / 10));
    }
    g_object_unref(service);
    printf("\nsearch-objects");
    for (long place = 0; place < object_searches; place++) {
        printf(" %.1f", search_for_objects(place, count / 10));
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    enum { most = 5 };
    long numbers[most] = {0};
    for (int place = 2; place < argc && place < 2 + most; place++) {
        numbers[place - 2] = strtol(argv[place], NULL, 10);
    }
    if (argc == 3 && strcmp(argv[1], "fill") == 0 && numbers[0] > 0) {
        for (long number = 0; number < numbers[0]; number++) {
            store(number);
        }
    } else if (argc == 2 + most && strcmp(argv[1], "measure") == 0 && numbers[0] >= 10) {
        measure(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    } else {
        fputs(
            "usage: libsecret-benchmark fill COUNT | measure COUNT STORES LOOKUPS SEARCHES OBJECTSEARCHES\n", stderr);
        return 64;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
