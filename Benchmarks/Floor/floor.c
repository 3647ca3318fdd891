// The least work a keychain on this schema could do: raw SQLite and OpenSSL, one thread, one
// connection, everything that can be prepared prepared. It is what the engine is measured against,
// so it does the same statements and the same cryptography on rows of the same size, and nothing else.
//
//   floor fill   DIR ITEMS    load a new store with ITEMS items
//   floor lookup DIR COUNT    read random existing items with their secrets
//   floor add    DIR COUNT    add items, one durable transaction each
//   floor hits   DIR [COUNT]  read every item of one service with its secret, in one go
//   floor serve  DIR          take the commands above from standard input, without DIR
//   floor answer DIR PATH REPLY   look up a random item for each frame that comes over the socket PATH (client.c), and
//                                 answer with as many bytes as REPLY says, the item's secret among them
//
// Each answer is one line: the command, then mean, median and 99th percentile in microseconds.
// `add` goes on with the bytes written per add, `hits` with the number of rows.
//
// `serve` answers `lookup`, `add` and `hits` with the command and every single duration instead, so that
// whoever asks can put batches together, and knows two commands more, each answered once it is done:
//
//   checkpoint                empty the log into the database; goes on with all bytes written so far
//   forget                    remove the items that `add` put in
//
// Build: cc -O2 -Wall -Wextra -pthread -o floor floor.c -lsqlite3 -lcrypto
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <poll.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// MARK: Sizes

enum {
    uuid_size = 16,
    token_size = 16,
    digest_size = 32,
    key_size = 32,
    wrapped_key_size = 40,
    nonce_size = 12,
    tag_size = 16,
    access_size = 5,
    entry_count = 3,                                         // account, service, label
    metadata_size = 128,                                     // 117 bytes, 4 of length, padding to a multiple of 64
    secret_length = 40,                                      // what the user stored
    secret_size = 64,                                        // 40 bytes, 4 of length, padding to a multiple of 32
    sealed_metadata_size = nonce_size + metadata_size + tag_size,
    sealed_secret_size = nonce_size + secret_size + tag_size,
    text_size = 40,                                          // room for one attribute value
    associated_size = uuid_size + uuid_size + 3 + 8,
    items_per_service = 1000,
};

// MARK: Failure

static _Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("floor: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fail("out of memory");
    }
    return memory;
}

/// Checks what an OpenSSL call returned.
static void crypto_check(int result, const char *what) {
    if (result != 1) {
        fail("%s failed", what);
    }
}

// MARK: Cryptography

/// Fixed keys and reusable contexts. Only the index and the class key live this long.
struct crypto {
    EVP_MAC *hmac;
    EVP_CIPHER *gcm;
    EVP_CIPHER *block_cipher;
    EVP_MAC_CTX *index_key;
    EVP_MAC_CTX *other_index_key;  // of the tier in which the items are not
    EVP_MAC_CTX *class_key;
    EVP_CIPHER_CTX *sealing;
    EVP_CIPHER_CTX *opening;
    EVP_CIPHER_CTX *wrapping;
    EVP_CIPHER_CTX *unwrapping;
    unsigned char access[access_size];
    unsigned char access_digest[digest_size];
    unsigned char store_id[uuid_size];
};

static EVP_MAC_CTX *keyed_hmac(EVP_MAC *hmac, unsigned char filler) {
    unsigned char key[key_size];
    memset(key, filler, sizeof key);
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(hmac);
    if (context == NULL) {
        fail("out of memory");
    }
    crypto_check(EVP_MAC_init(context, key, sizeof key, parameters), "keying the HMAC");
    return context;
}

static EVP_CIPHER_CTX *cipher_context(const EVP_CIPHER *cipher, bool encrypts) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context == NULL) {
        fail("out of memory");
    }
    crypto_check(EVP_CipherInit_ex(context, cipher, NULL, NULL, NULL, encrypts), "preparing a cipher");
    EVP_CIPHER_CTX_set_padding(context, 0);  // matters to single blocks alone
    return context;
}

static void crypto_open(struct crypto *crypto) {
    crypto->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    crypto->gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    crypto->block_cipher = EVP_CIPHER_fetch(NULL, "AES-256-ECB", NULL);
    if (crypto->hmac == NULL || crypto->gcm == NULL || crypto->block_cipher == NULL) {
        fail("OpenSSL lacks HMAC, AES-256-GCM or AES-256-ECB");
    }
    crypto->index_key = keyed_hmac(crypto->hmac, 0x11);
    crypto->other_index_key = keyed_hmac(crypto->hmac, 0x44);
    crypto->class_key = keyed_hmac(crypto->hmac, 0x22);
    crypto->sealing = cipher_context(crypto->gcm, true);
    crypto->opening = cipher_context(crypto->gcm, false);
    crypto->wrapping = cipher_context(crypto->block_cipher, true);
    crypto->unwrapping = cipher_context(crypto->block_cipher, false);
    memset(crypto->store_id, 0x33, sizeof crypto->store_id);
    crypto->access[0] = 6;  // "when unlocked", no flags
    crypto_check(
        EVP_Digest(crypto->access, access_size, crypto->access_digest, NULL, EVP_sha256(), NULL),
        "hashing the access control");
}

static void crypto_close(struct crypto *crypto) {
    EVP_CIPHER_CTX_free(crypto->unwrapping);
    EVP_CIPHER_CTX_free(crypto->wrapping);
    EVP_CIPHER_CTX_free(crypto->opening);
    EVP_CIPHER_CTX_free(crypto->sealing);
    EVP_MAC_CTX_free(crypto->class_key);
    EVP_MAC_CTX_free(crypto->other_index_key);
    EVP_MAC_CTX_free(crypto->index_key);
    EVP_CIPHER_free(crypto->block_cipher);
    EVP_CIPHER_free(crypto->gcm);
    EVP_MAC_free(crypto->hmac);
}

static void hmac(EVP_MAC_CTX *key, const unsigned char *message, size_t count, unsigned char *digest) {
    size_t written = 0;
    crypto_check(EVP_MAC_init(key, NULL, 0, NULL), "restarting the HMAC");
    crypto_check(EVP_MAC_update(key, message, count), "HMAC");
    crypto_check(EVP_MAC_final(key, digest, &written, digest_size), "HMAC");
}

/// The bytes that an index token is made of.
struct message {
    unsigned char bytes[256];
    size_t count;
};

enum purpose { for_attribute = 1, for_home = 2, for_uniqueness = 3 };

static void message_append(struct message *message, const void *bytes, size_t count) {
    if (count > sizeof message->bytes - message->count) {
        fail("an attribute value is too long");
    }
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

static struct message message_start(enum purpose purpose) {
    const unsigned char start[2] = {(unsigned char)purpose, 1};  // 1: generic password
    struct message message = {.count = 0};
    message_append(&message, start, sizeof start);
    return message;
}

/// Kind and length, then the bytes: no two sequences of values read alike.
static void message_append_text(struct message *message, const char *text) {
    size_t length = strlen(text);
    const uint64_t prefix = UINT64_C(1) << 56 | length;  // 1: text
    message_append(message, &prefix, sizeof prefix);
    message_append(message, text, length);
}

static void message_append_attribute(struct message *message, const char *code, const char *value) {
    message_append(message, code, 4);
    message_append_text(message, value);
}

static void index_token(EVP_MAC_CTX *key, const struct message *message, unsigned char token[token_size]) {
    unsigned char digest[digest_size];
    hmac(key, message->bytes, message->count, digest);
    memcpy(token, digest, token_size);
}

/// The token under which an item with this value is found.
static void attribute_token(
    struct crypto *crypto, const char *code, const char *value, unsigned char token[token_size]
) {
    struct message message = message_start(for_attribute);
    message_append_attribute(&message, code, value);
    index_token(crypto->index_key, &message, token);
}

static void message_append_group(struct message *message) {
    message_append(message, "", 1);  // not synchronizable
    message_append_text(message, "benchmark");
}

static void home_token(struct crypto *crypto, unsigned char token[token_size]) {
    struct message message = message_start(for_home);
    message_append_group(&message);
    index_token(crypto->index_key, &message, token);
}

/// What makes an item unique: its class, group, account, service and two attributes that are rarely set.
static struct message uniqueness(const char *account, const char *service) {
    struct message message = message_start(for_uniqueness);
    message_append_group(&message);
    message_append_attribute(&message, "acct", account);
    message_append_attribute(&message, "svce", service);
    message_append_attribute(&message, "vwht", "");
    message_append_attribute(&message, "tkid", "");
    return message;
}

/// HKDF-Expand (RFC 5869) of the class key, one block: the key that wraps the keys of one row.
static void row_wrapping_key(
    struct crypto *crypto, const unsigned char uuid[uuid_size], unsigned char key[digest_size]
) {
    static const char label[9] = "row key 1";  // without a final NUL
    unsigned char message[sizeof label + uuid_size + 1 + digest_size + 1];
    unsigned char *next = (unsigned char *)mempcpy(message, label, sizeof label);
    next = (unsigned char *)mempcpy(next, uuid, uuid_size);
    *next++ = crypto->access[0];
    next = (unsigned char *)mempcpy(next, crypto->access_digest, digest_size);
    *next = 1;
    hmac(crypto->class_key, message, sizeof message, key);
}

enum half { metadata_half = 1, secret_half = 2 };

static void associated_data(
    const struct crypto *crypto, const unsigned char uuid[uuid_size], int64_t version, enum half half,
    unsigned char data[associated_size]
) {
    unsigned char *next = data;
    next = (unsigned char *)mempcpy(next, crypto->store_id, uuid_size);
    next = (unsigned char *)mempcpy(next, uuid, uuid_size);
    *next++ = 1;  // generic password
    *next++ = crypto->access[0];
    *next++ = (unsigned char)half;
    memcpy(next, &version, sizeof version);
}

/// RFC 3394 over single blocks of AES: OpenSSL's own AES-256-WRAP does not use the processor's AES
/// instructions and takes six times as long.
///
/// `context` has the wrapping key; that the key is set once for both keys of a row is the caller's gain.
static void key_block(EVP_CIPHER_CTX *context, unsigned char block[16]) {
    int count = 0;
    crypto_check(EVP_CipherUpdate(context, block, &count, block, 16), "wrapping a key");
}

static void wrap_key(EVP_CIPHER_CTX *context, const unsigned char *key, unsigned char *wrapped) {
    unsigned char block[16];
    memset(block, 0xA6, 8);
    memcpy(wrapped + 8, key, key_size);
    for (unsigned char step = 0; step < 24; step++) {
        unsigned char *part = wrapped + 8 + 8 * (step % 4);
        memcpy(block + 8, part, 8);
        key_block(context, block);
        memcpy(part, block + 8, 8);
        block[7] ^= step + 1;
    }
    memcpy(wrapped, block, 8);
}

static void unwrap_key(EVP_CIPHER_CTX *context, const unsigned char *wrapped, unsigned char *key) {
    static const unsigned char intact[8] = {0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6};
    unsigned char block[16];
    memcpy(block, wrapped, 8);
    memcpy(key, wrapped + 8, key_size);
    for (unsigned char step = 24; step > 0; step--) {
        unsigned char *part = key + 8 * ((step - 1) % 4);
        memcpy(block + 8, part, 8);
        block[7] ^= step;
        key_block(context, block);
        memcpy(part, block + 8, 8);
    }
    if (CRYPTO_memcmp(block, intact, sizeof intact) != 0) {
        fail("a wrapped key is damaged");
    }
}

/// AES-256-GCM: `sealed` is nonce, ciphertext, tag; its nonce is already there.
static void seal(
    struct crypto *crypto, const unsigned char *key, const unsigned char *associated,
    const unsigned char *plain, int count, unsigned char *sealed
) {
    EVP_CIPHER_CTX *context = crypto->sealing;
    int written = 0;
    crypto_check(EVP_EncryptInit_ex(context, NULL, NULL, key, sealed), "sealing");
    crypto_check(EVP_EncryptUpdate(context, NULL, &written, associated, associated_size), "sealing");
    crypto_check(EVP_EncryptUpdate(context, sealed + nonce_size, &written, plain, count), "sealing");
    crypto_check(EVP_EncryptFinal_ex(context, sealed + nonce_size + written, &written), "sealing");
    crypto_check(
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_size, sealed + nonce_size + count),
        "sealing");
}

static void open_sealed(
    struct crypto *crypto, const unsigned char *key, const unsigned char *associated,
    const unsigned char *sealed, int count, unsigned char *plain
) {
    EVP_CIPHER_CTX *context = crypto->opening;
    unsigned char tag[tag_size];
    int written = 0;
    memcpy(tag, sealed + nonce_size + count, tag_size);
    crypto_check(EVP_DecryptInit_ex(context, NULL, NULL, key, sealed), "opening");
    crypto_check(EVP_DecryptUpdate(context, NULL, &written, associated, associated_size), "opening");
    crypto_check(EVP_DecryptUpdate(context, plain, &written, sealed + nonce_size, count), "opening");
    crypto_check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_size, tag), "opening");
    crypto_check(EVP_DecryptFinal_ex(context, plain + written, &written), "opening");
}

// MARK: Items

/// What the user hands in. `metadata` and `secret` are the plaintexts, padded.
struct item {
    char account[text_size];
    char service[text_size];
    char label[text_size];
    unsigned char metadata[metadata_size];
    unsigned char secret[secret_size];
};

/// One row before it is stored.
struct sealed_item {
    unsigned char uuid[uuid_size];
    unsigned char uniqueness[token_size];
    unsigned char other_uniqueness[token_size];  // what it would be in the other tier
    unsigned char tokens[entry_count][token_size];
    unsigned char metadata_key[wrapped_key_size];
    unsigned char metadata[sealed_metadata_size];
    unsigned char secret_key[wrapped_key_size];
    unsigned char secret[sealed_secret_size];
};

static void item_name(struct item *item, const char *kind, int64_t number, int64_t service) {
    snprintf(item->account, sizeof item->account, "%s-%07" PRId64, kind, number);
    snprintf(item->service, sizeof item->service, "%s.service-%04" PRId64, kind, service);
}

static void item_fill(struct item *item) {
    snprintf(item->label, sizeof item->label, "Label of %.24s", item->account);
    memset(item->metadata, 0, sizeof item->metadata);
    memcpy(item->metadata, item->account, text_size);
    memcpy(item->metadata + text_size, item->service, text_size);
    memcpy(item->metadata + 2 * text_size, item->label, text_size);
    const uint32_t length = secret_length;
    memset(item->secret, 0, sizeof item->secret);
    memcpy(item->secret, &length, sizeof length);
    memset(item->secret + sizeof length, 's', length);
}

/// All the cryptography of an add.
static void item_seal(struct crypto *crypto, const struct item *item, struct sealed_item *sealed) {
    struct {
        unsigned char uuid[uuid_size];
        unsigned char metadata_key[key_size];
        unsigned char secret_key[key_size];
        unsigned char metadata_nonce[nonce_size];
        unsigned char secret_nonce[nonce_size];
    } fresh;
    unsigned char wrapping_key[digest_size];
    unsigned char associated[associated_size];

    crypto_check(RAND_bytes((unsigned char *)&fresh, sizeof fresh), "drawing random bytes");
    memcpy(sealed->uuid, fresh.uuid, uuid_size);
    memcpy(sealed->metadata, fresh.metadata_nonce, nonce_size);
    memcpy(sealed->secret, fresh.secret_nonce, nonce_size);

    const struct message unique = uniqueness(item->account, item->service);
    index_token(crypto->index_key, &unique, sealed->uniqueness);
    index_token(crypto->other_index_key, &unique, sealed->other_uniqueness);
    attribute_token(crypto, "acct", item->account, sealed->tokens[0]);
    attribute_token(crypto, "svce", item->service, sealed->tokens[1]);
    attribute_token(crypto, "labl", item->label, sealed->tokens[2]);

    row_wrapping_key(crypto, sealed->uuid, wrapping_key);
    crypto_check(EVP_EncryptInit_ex(crypto->wrapping, NULL, NULL, wrapping_key, NULL), "wrapping");
    wrap_key(crypto->wrapping, fresh.metadata_key, sealed->metadata_key);
    wrap_key(crypto->wrapping, fresh.secret_key, sealed->secret_key);

    associated_data(crypto, sealed->uuid, 1, metadata_half, associated);
    seal(crypto, fresh.metadata_key, associated, item->metadata, metadata_size, sealed->metadata);
    associated_data(crypto, sealed->uuid, 1, secret_half, associated);
    seal(crypto, fresh.secret_key, associated, item->secret, secret_size, sealed->secret);
    OPENSSL_cleanse(wrapping_key, sizeof wrapping_key);
    OPENSSL_cleanse(&fresh, sizeof fresh);
}

// MARK: Store

static const char schema[] =
    "CREATE TABLE store (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE home (id INTEGER PRIMARY KEY AUTOINCREMENT, class INTEGER NOT NULL,"
    " tier INTEGER NOT NULL, token BLOB NOT NULL UNIQUE);"
    "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB NOT NULL UNIQUE,"
    " home INTEGER NOT NULL, version INTEGER NOT NULL, uniqueness BLOB NOT NULL UNIQUE,"
    " access BLOB NOT NULL, tokens BLOB NOT NULL, metadata_key BLOB NOT NULL,"
    " metadata BLOB NOT NULL, secret_key BLOB, secret BLOB);"
    "CREATE INDEX item_by_home ON item(home);"
    "CREATE TABLE entry (token BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (token, item))"
    " WITHOUT ROWID;";

static const char seek_sql[] =
    "SELECT item FROM entry WHERE token = ?1 AND item >= ?2 ORDER BY item LIMIT 1";

struct store {
    sqlite3 *database;
    sqlite3_stmt *begin;
    sqlite3_stmt *commit;
    sqlite3_stmt *seek_account;
    sqlite3_stmt *seek_service;
    sqlite3_stmt *all_of_token;
    sqlite3_stmt *fetch;
    sqlite3_stmt *find_unique;
    sqlite3_stmt *insert_item;
    sqlite3_stmt *insert_entry;
    struct crypto crypto;
    int64_t home;
    int64_t filled;      // items that `fill` put in
    int64_t added;       // the next number for an added item
    uint64_t random;
};

static _Noreturn void fail_in(struct store *store, const char *what) {
    fail("%s: %s", what, sqlite3_errmsg(store->database));
}

static void check(struct store *store, int result, const char *what) {
    if (result != SQLITE_OK) {
        fail_in(store, what);
    }
}

static void execute(struct store *store, const char *sql) {
    check(store, sqlite3_exec(store->database, sql, NULL, NULL, NULL), sql);
}

static sqlite3_stmt *prepare(struct store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    check(
        store, sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL),
        sql);
    return statement;
}

static void bind_blob(struct store *store, sqlite3_stmt *statement, int place, const void *bytes, int count) {
    check(store, sqlite3_bind_blob(statement, place, bytes, count, SQLITE_STATIC), "binding");
}

static void bind_integer(struct store *store, sqlite3_stmt *statement, int place, int64_t value) {
    check(store, sqlite3_bind_int64(statement, place, value), "binding");
}

/// One step; true if there is a row.
static bool step(struct store *store, sqlite3_stmt *statement) {
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        fail_in(store, sqlite3_sql(statement));
    }
    return result == SQLITE_ROW;
}

static void run(struct store *store, sqlite3_stmt *statement) {
    step(store, statement);
    sqlite3_reset(statement);
}

static int64_t query_integer(struct store *store, const char *sql) {
    sqlite3_stmt *statement = prepare(store, sql);
    int64_t value = step(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return value;
}

static void prepare_all(struct store *store) {
    store->begin = prepare(store, "BEGIN IMMEDIATE");
    store->commit = prepare(store, "COMMIT");
    store->seek_account = prepare(store, seek_sql);
    store->seek_service = prepare(store, seek_sql);
    store->all_of_token = prepare(store, "SELECT item FROM entry WHERE token = ?1 ORDER BY item");
    store->fetch = prepare(
        store, "SELECT uuid, home, version, access, metadata_key, metadata, secret_key, secret"
               " FROM item WHERE id = ?1");
    store->find_unique = prepare(store, "SELECT id FROM item WHERE uniqueness = ?1");
    store->insert_item = prepare(
        store, "INSERT INTO item (uuid, home, version, uniqueness, access, tokens, metadata_key,"
               " metadata, secret_key, secret) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    store->insert_entry = prepare(store, "INSERT INTO entry (token, item) VALUES (?1, ?2)");
}

static void open_database(struct store *store, const char *directory, int flags) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/floor.sqlite", directory);
    if (length < 0 || (size_t)length >= sizeof path) {
        fail("the path of the directory is too long");
    }
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    check(store, sqlite3_open_v2(path, &store->database, flags, NULL), path);
}

static int64_t find_home(struct store *store) {
    unsigned char token[token_size];
    sqlite3_stmt *statement = prepare(store, "SELECT id FROM home WHERE token = ?1");
    home_token(&store->crypto, token);
    bind_blob(store, statement, 1, token, token_size);
    int64_t home = step(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return home;
}

static void store_open(struct store *store, const char *directory) {
    memset(store, 0, sizeof *store);
    crypto_open(&store->crypto);
    open_database(store, directory, 0);
    execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON");
    prepare_all(store);
    store->home = find_home(store);
    store->filled = query_integer(store, "SELECT value FROM store WHERE key = 'filled'");
    store->added = query_integer(store, "SELECT max(id) FROM item");
    store->random = 0x9E3779B97F4A7C15u;
}

static void store_close(struct store *store) {
    sqlite3_stmt *statement;
    while ((statement = sqlite3_next_stmt(store->database, NULL)) != NULL) {
        sqlite3_finalize(statement);
    }
    check(store, sqlite3_close(store->database), "closing");
    crypto_close(&store->crypto);
}

static void checkpoint(struct store *store) {
    check(
        store,
        sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
        "checkpoint");
}

static void create_home(struct store *store) {
    unsigned char token[token_size];
    home_token(&store->crypto, token);
    sqlite3_stmt *statement = prepare(store, "INSERT INTO home (class, tier, token) VALUES (1, 1, ?1)");
    bind_blob(store, statement, 1, token, token_size);
    run(store, statement);
    sqlite3_finalize(statement);
}

/// The row and its index entries, inside a transaction.
static void insert(struct store *store, const struct sealed_item *item) {
    sqlite3_stmt *row = store->insert_item;
    bind_blob(store, row, 1, item->uuid, uuid_size);
    bind_integer(store, row, 2, store->home);
    bind_integer(store, row, 3, 1);
    bind_blob(store, row, 4, item->uniqueness, token_size);
    bind_blob(store, row, 5, store->crypto.access, access_size);
    bind_blob(store, row, 6, item->tokens, sizeof item->tokens);
    bind_blob(store, row, 7, item->metadata_key, wrapped_key_size);
    bind_blob(store, row, 8, item->metadata, sealed_metadata_size);
    bind_blob(store, row, 9, item->secret_key, wrapped_key_size);
    bind_blob(store, row, 10, item->secret, sealed_secret_size);
    run(store, row);

    int64_t id = sqlite3_last_insert_rowid(store->database);
    for (int place = 0; place < entry_count; place++) {
        bind_blob(store, store->insert_entry, 1, item->tokens[place], token_size);
        bind_integer(store, store->insert_entry, 2, id);
        run(store, store->insert_entry);
    }
}

static const unsigned char *column_blob(sqlite3_stmt *row, int column, int expected) {
    const unsigned char *bytes = sqlite3_column_blob(row, column);
    if (bytes == NULL || sqlite3_column_bytes(row, column) != expected) {
        fail("column %d of a row has the wrong size", column);
    }
    return bytes;
}

/// Reads and opens one row; `item` gets the two plaintexts.
static void fetch(struct store *store, int64_t id, struct item *item) {
    struct crypto *crypto = &store->crypto;
    sqlite3_stmt *row = store->fetch;
    unsigned char wrapping_key[digest_size];
    unsigned char key[key_size];
    unsigned char associated[associated_size];

    bind_integer(store, row, 1, id);
    if (!step(store, row)) {
        fail("item %" PRId64 " has an index entry and no row", id);
    }
    const unsigned char *uuid = column_blob(row, 0, uuid_size);
    int64_t version = sqlite3_column_int64(row, 2);
    row_wrapping_key(crypto, uuid, wrapping_key);
    crypto_check(EVP_DecryptInit_ex(crypto->unwrapping, NULL, NULL, wrapping_key, NULL), "unwrapping");

    unwrap_key(crypto->unwrapping, column_blob(row, 4, wrapped_key_size), key);
    associated_data(crypto, uuid, version, metadata_half, associated);
    open_sealed(
        crypto, key, associated, column_blob(row, 5, sealed_metadata_size), metadata_size, item->metadata);
    unwrap_key(crypto->unwrapping, column_blob(row, 6, wrapped_key_size), key);
    associated_data(crypto, uuid, version, secret_half, associated);
    open_sealed(crypto, key, associated, column_blob(row, 7, sealed_secret_size), secret_size, item->secret);
    sqlite3_reset(row);
    OPENSSL_cleanse(wrapping_key, sizeof wrapping_key);
    OPENSSL_cleanse(key, sizeof key);
}

// MARK: Work

static int64_t seek(struct store *store, sqlite3_stmt *statement, const unsigned char *token, int64_t from) {
    sqlite3_reset(statement);
    bind_blob(store, statement, 1, token, token_size);
    bind_integer(store, statement, 2, from);
    return step(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
}

/// Finds the item that has both the account and the service, and opens it.
///
/// A statement that is not yet reset keeps the read transaction open, so that all of it is one
/// snapshot and takes the lock once.
static bool look_up(struct store *store, struct item *item) {
    unsigned char account[token_size];
    unsigned char service[token_size];
    attribute_token(&store->crypto, "acct", item->account, account);
    attribute_token(&store->crypto, "svce", item->service, service);
    int64_t first = 0;
    int64_t second = 0;
    do {
        first = seek(store, store->seek_account, account, second);
        second = first == 0 ? 0 : seek(store, store->seek_service, service, first);
    } while (first != second && second != 0);
    bool found = first != 0 && first == second;
    if (found) {
        fetch(store, first, item);
    }
    sqlite3_reset(store->seek_service);
    sqlite3_reset(store->seek_account);
    return found && memcmp(item->metadata, item->account, strlen(item->account) + 1) == 0;
}

static bool is_there(struct store *store, const unsigned char uniqueness[token_size]) {
    bind_blob(store, store->find_unique, 1, uniqueness, token_size);
    bool found = step(store, store->find_unique);
    sqlite3_reset(store->find_unique);
    return found;
}

/// Adds an item in a durable transaction of its own.
static void add(struct store *store, const struct item *item) {
    struct sealed_item sealed;
    item_seal(&store->crypto, item, &sealed);
    run(store, store->begin);
    if (is_there(store, sealed.uniqueness) || is_there(store, sealed.other_uniqueness)) {
        fail("%s is already there", item->account);
    }
    insert(store, &sealed);
    run(store, store->commit);
}

/// Opens every item of one service; returns how many there are.
static int hits(struct store *store, const char *service, struct item *item) {
    unsigned char token[token_size];
    int count = 0;
    attribute_token(&store->crypto, "svce", service, token);
    bind_blob(store, store->all_of_token, 1, token, token_size);
    while (step(store, store->all_of_token)) {
        fetch(store, sqlite3_column_int64(store->all_of_token, 0), item);
        count++;
    }
    sqlite3_reset(store->all_of_token);
    return count;
}

static int64_t service_count(int64_t items) {
    return items < items_per_service ? 1 : items / items_per_service;
}

// MARK: Measurement

/// Durations in microseconds.
struct samples {
    double *values;
    size_t count;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static struct samples samples_make(size_t count) {
    return (struct samples){.values = allocate(count, sizeof(double)), .count = count};
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Prints every duration and frees the samples.
static void samples_list(struct samples samples, const char *name) {
    fputs(name, stdout);
    for (size_t place = 0; place < samples.count; place++) {
        printf(" %.3f", samples.values[place]);
    }
    putchar('\n');
    free(samples.values);
}

/// Prints mean, median and 99th percentile without ending the line, and frees the samples.
static void samples_report(struct samples samples, const char *name) {
    double sum = 0;
    for (size_t place = 0; place < samples.count; place++) {
        sum += samples.values[place];
    }
    qsort(samples.values, samples.count, sizeof(double), ascending);
    printf(
        "%s %.3f %.3f %.3f", name, sum / (double)samples.count, samples.values[samples.count / 2],
        samples.values[samples.count * 99 / 100]);
    free(samples.values);
}

/// Bytes that this process has handed to write calls.
///
/// SQLite writes the log and the database with pwrite and maps only the log's index, which is never
/// written back; so this counter is the log plus what checkpoints copy, exactly and on any machine.
/// `write_bytes` in the same file counts whole dirtied pages and is zero on some file systems.
static int64_t bytes_written(void) {
    FILE *file = fopen("/proc/self/io", "re");
    char line[128];
    int64_t bytes = -1;
    if (file == NULL) {
        fail("/proc/self/io: %s", strerror(errno));
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "wchar: %" SCNd64, &bytes) == 1) {
            break;
        }
    }
    fclose(file);
    if (bytes < 0) {
        fail("/proc/self/io has no line \"wchar\"");
    }
    return bytes;
}

static uint64_t random_number(struct store *store) {  // splitmix64
    uint64_t z = (store->random += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static struct samples sample_lookup(struct store *store, size_t count) {
    struct samples samples = samples_make(count);
    int64_t services = service_count(store->filled);
    struct item item;
    for (size_t place = 0; place < count; place++) {
        int64_t number = (int64_t)(random_number(store) % (uint64_t)store->filled);
        item_name(&item, "account", number, number % services);
        double start = now();
        bool found = look_up(store, &item);
        samples.values[place] = now() - start;
        if (!found) {
            fail("%s was not found", item.account);
        }
    }
    return samples;
}

static struct samples sample_add(struct store *store, size_t count) {
    struct samples samples = samples_make(count);
    struct item item;
    for (size_t place = 0; place < count; place++) {
        item_name(&item, "added", store->added++, 0);
        double start = now();
        item_fill(&item);
        add(store, &item);
        samples.values[place] = now() - start;
    }
    return samples;
}

static struct samples sample_hits(struct store *store, size_t count, int *rows) {
    struct samples samples = samples_make(count);
    struct item item;
    item_name(&item, "account", 0, 0);
    for (size_t place = 0; place < count; place++) {
        double start = now();
        *rows = hits(store, item.service, &item);
        samples.values[place] = now() - start;
    }
    return samples;
}

static void measure_lookup(struct store *store, size_t count) {
    samples_report(sample_lookup(store, count), "lookup");
    putchar('\n');
}

/// Starts and ends with an empty log, so that the bytes include every checkpoint.
static void measure_add(struct store *store, size_t count) {
    checkpoint(store);
    int64_t bytes = bytes_written();
    struct samples samples = sample_add(store, count);
    checkpoint(store);
    bytes = bytes_written() - bytes;
    samples_report(samples, "add");
    printf(" %" PRId64 "\n", bytes / (int64_t)count);
}

static void measure_hits(struct store *store, size_t count) {
    int rows = 0;
    samples_report(sample_hits(store, count, &rows), "hits");
    printf(" %d\n", rows);
}

// MARK: Filling

static void fill_rows(struct store *store, int64_t items) {
    struct item item;
    struct sealed_item sealed;
    int64_t services = service_count(items);
    for (int64_t number = 0; number < items; number++) {
        item_name(&item, "account", number, number % services);
        item_fill(&item);
        item_seal(&store->crypto, &item, &sealed);
        insert(store, &sealed);
    }
}

/// Loads in one transaction, without a log and without syncing: nobody needs half a benchmark.
static void fill(const char *directory, int64_t items) {
    struct store store;
    char sql[128];
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        fail("%s: %s", directory, strerror(errno));
    }
    memset(&store, 0, sizeof store);
    crypto_open(&store.crypto);
    open_database(&store, directory, SQLITE_OPEN_CREATE);
    execute(
        &store, "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "PRAGMA cache_size = -400000");
    execute(&store, schema);
    prepare_all(&store);
    execute(&store, "BEGIN IMMEDIATE");
    create_home(&store);
    store.home = find_home(&store);
    fill_rows(&store, items);
    snprintf(sql, sizeof sql, "INSERT INTO store VALUES ('filled', %" PRId64 ")", items);
    execute(&store, sql);
    execute(&store, "COMMIT");
    execute(&store, "PRAGMA journal_mode = WAL");
    store_close(&store);
    printf("fill %" PRId64 "\n", items);
}

// MARK: Commands

static int64_t count_from(const char *text) {
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > 100000000) {
        fail("\"%s\" is not a count", text);
    }
    return value;
}

static bool measure(struct store *store, const char *command, size_t count) {
    if (strcmp(command, "lookup") == 0) {
        measure_lookup(store, count);
    } else if (strcmp(command, "add") == 0) {
        measure_add(store, count);
    } else if (strcmp(command, "hits") == 0) {
        measure_hits(store, count);
    } else {
        return false;
    }
    return true;
}

/// Leaves the store as `fill` made it, so that it can be measured again.
static void forget(struct store *store) {
    char sql[160];
    snprintf(
        sql, sizeof sql,
        "BEGIN IMMEDIATE; DELETE FROM entry WHERE item > %" PRId64 "; DELETE FROM item WHERE id > %" PRId64
        "; COMMIT", store->filled, store->filled);
    execute(store, sql);
}

static bool serve_samples(struct store *store, const char *command, size_t count) {
    int rows = 0;
    if (strcmp(command, "lookup") == 0) {
        samples_list(sample_lookup(store, count), command);
    } else if (strcmp(command, "add") == 0) {
        samples_list(sample_add(store, count), command);
    } else if (strcmp(command, "hits") == 0) {
        samples_list(sample_hits(store, count, &rows), command);
    } else {
        return false;
    }
    return true;
}

static bool serve_plain(struct store *store, const char *command) {
    if (strcmp(command, "checkpoint") == 0) {
        checkpoint(store);
        printf("checkpoint %" PRId64 "\n", bytes_written());
    } else if (strcmp(command, "forget") == 0) {
        forget(store);
        puts("forget");
    } else {
        return false;
    }
    return true;
}

/// One command a line, with its count if it has one. Ends with the input or the word "quit".
static void serve(struct store *store) {
    char line[128];
    char command[16];
    char count[24];
    while (fgets(line, sizeof line, stdin) != NULL) {
        int fields = sscanf(line, "%15s %23s", command, count);
        if (fields == 1 && strcmp(command, "quit") == 0) {
            return;
        }
        bool known = fields == 1 ? serve_plain(store, command)
                                 : fields == 2 && serve_samples(store, command, (size_t)count_from(count));
        if (!known) {
            fail("not a command: %s", line);
        }
        fflush(stdout);
    }
}

// MARK: Server

enum { frame_header = 8, most_frame = 64 << 10, most_stores = 8 };

/// Open stores, and those of them that no thread uses at the moment.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t is_given;
    struct store stores[most_stores];
    struct store *idle[most_stores];
    int count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_given = PTHREAD_COND_INITIALIZER};

static void pool_open(const char *directory) {
    for (pool.count = 0; pool.count < most_stores; pool.count++) {
        store_open(&pool.stores[pool.count], directory);
        pool.idle[pool.count] = &pool.stores[pool.count];
    }
}

static struct store *pool_take(void) {
    pthread_mutex_lock(&pool.lock);
    while (pool.count == 0) {
        pthread_cond_wait(&pool.is_given, &pool.lock);
    }
    struct store *store = pool.idle[--pool.count];
    pthread_mutex_unlock(&pool.lock);
    return store;
}

static void pool_give(struct store *store) {
    pthread_mutex_lock(&pool.lock);
    pool.idle[pool.count++] = store;
    pthread_cond_signal(&pool.is_given);
    pthread_mutex_unlock(&pool.lock);
}

/// With the process that sent it, as the kernel says, as any daemon has to ask.
static ssize_t receive(int connection, unsigned char *bytes, size_t capacity) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct pollfd waiting = {.fd = connection, .events = POLLIN};
    (void)poll(&waiting, 1, -1);
    return recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
}

static bool receive_frame(int connection, unsigned char *bytes) {
    size_t size = frame_header;
    size_t received = 0;
    while (received < size) {
        ssize_t count = receive(connection, bytes + received, most_frame - received);
        if (count <= 0) {
            return false;
        }
        received += (size_t)count;
        if (received >= frame_header) {
            uint32_t length = 0;
            memcpy(&length, bytes, sizeof length);
            size = frame_header + (size_t)ntohl(length);
        }
        if (size > most_frame || received > size) {
            fail("a frame of %zu bytes", size);
        }
    }
    return true;
}

struct answering {
    int connection;
    size_t reply;
};

static void *answer_one(void *argument) {
    struct answering answering = *(struct answering *)argument;
    unsigned char bytes[most_frame];
    struct item item;
    free(argument);
    int yes = 1;
    setsockopt(answering.connection, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
    while (receive_frame(answering.connection, bytes)) {
        struct store *store = pool_take();
        int64_t number = (int64_t)(random_number(store) % (uint64_t)store->filled);
        item_name(&item, "account", number, number % service_count(store->filled));
        if (!look_up(store, &item)) {
            fail("%s was not found", item.account);
        }
        pool_give(store);
        uint32_t length = htonl((uint32_t)(answering.reply - frame_header));
        memset(bytes, 0, answering.reply);
        memcpy(bytes, &length, sizeof length);
        memcpy(bytes + frame_header, item.secret, secret_length);
        if (send(answering.connection, bytes, answering.reply, MSG_NOSIGNAL) != (ssize_t)answering.reply) {
            break;
        }
        OPENSSL_cleanse(&item, sizeof item);
    }
    close(answering.connection);
    return NULL;
}

static _Noreturn void answer(const char *directory, const char *path, size_t reply) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path || reply < frame_header + secret_length || reply > most_frame) {
        fail("the socket's name is too long, or the answer has no room for a secret");
    }
    strcpy(address.sun_path, path);
    pool_open(directory);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 256) != 0) {
        fail("%s: %s", path, strerror(errno));
    }
    for (;;) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) {
            continue;
        }
        struct answering *answering = allocate(1, sizeof *answering);
        pthread_t thread;
        *answering = (struct answering){connection, reply};
        int error = pthread_create(&thread, NULL, answer_one, answering);
        if (error != 0) {
            fail("a thread: %s", strerror(error));
        }
        pthread_detach(thread);
    }
}

static int usage(void) {
    fputs(
        "usage: floor fill|lookup|add DIR COUNT | floor hits DIR [COUNT] | floor serve DIR"
        " | floor answer DIR PATH REPLY\n",
        stderr);
    return 64;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "answer") == 0) {
        answer(argv[2], argv[3], (size_t)count_from(argv[4]));
    }
    if (argc < 3 || argc > 4) {
        return usage();
    }
    const char *command = argv[1];
    bool counted = strcmp(command, "fill") == 0 || strcmp(command, "lookup") == 0 || strcmp(command, "add") == 0;
    bool known = counted || strcmp(command, "hits") == 0 || strcmp(command, "serve") == 0;
    if (!known || (counted && argc != 4)) {
        return usage();
    }
    int64_t count = argc == 4 ? count_from(argv[3]) : 1;
    if (strcmp(command, "fill") == 0) {
        fill(argv[2], count);
        return 0;
    }
    struct store store;
    store_open(&store, argv[2]);
    if (store.filled < 1) {
        fail("%s was not filled", argv[2]);
    }
    if (strcmp(command, "serve") == 0) {
        serve(&store);
    } else {
        measure(&store, command, (size_t)count);
    }
    store_close(&store);
    return fflush(stdout) == 0 ? 0 : 1;
}
