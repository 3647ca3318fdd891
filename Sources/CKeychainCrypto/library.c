#include "CKeychainCrypto.h"

#include <CCryptoBoringSSL.h>

// Each line is one of Sources/KeychainCrypto/Primitives/BoringSSL.swift: the function's type, or the most that a structure may
// take. A release of the library that changes one of them is refused here, and not found out at run time.
#define IS(function, ...) _Static_assert(__builtin_types_compatible_p(__typeof__(&function), __VA_ARGS__), #function)
#define FITS(type, count) _Static_assert(sizeof(type) <= (count) && _Alignof(type) <= 16, #type)

FITS(EVP_AEAD_CTX, 640);
FITS(AES_KEY, 256);
// In 14 words of 8 bytes.
_Static_assert(sizeof(SHA256_CTX) <= 112 && _Alignof(SHA256_CTX) <= 8, "SHA256_CTX");

IS(EVP_aead_aes_256_gcm, const EVP_AEAD *(*)(void));
IS(EVP_AEAD_CTX_init, int (*)(EVP_AEAD_CTX *, const EVP_AEAD *, const uint8_t *, size_t, size_t, ENGINE *));
IS(EVP_AEAD_CTX_cleanup, void (*)(EVP_AEAD_CTX *));
IS(EVP_AEAD_CTX_seal, int (*)(const EVP_AEAD_CTX *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *,
                              size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_open, int (*)(const EVP_AEAD_CTX *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *,
                              size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_seal_scatter,
   int (*)(const EVP_AEAD_CTX *, uint8_t *, uint8_t *, size_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t,
           const uint8_t *, size_t, const uint8_t *, size_t));
IS(EVP_AEAD_CTX_open_gather,
   int (*)(const EVP_AEAD_CTX *, uint8_t *, const uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *, size_t,
           const uint8_t *, size_t));
IS(AES_set_encrypt_key, int (*)(const uint8_t *, unsigned, AES_KEY *));
IS(AES_set_decrypt_key, int (*)(const uint8_t *, unsigned, AES_KEY *));
IS(AES_wrap_key, int (*)(const AES_KEY *, const uint8_t *, uint8_t *, const uint8_t *, size_t));
IS(AES_unwrap_key, int (*)(const AES_KEY *, const uint8_t *, uint8_t *, const uint8_t *, size_t));
IS(SHA256_Init, int (*)(SHA256_CTX *));
IS(SHA256_Update, int (*)(SHA256_CTX *, const void *, size_t));
IS(SHA256_Final, int (*)(uint8_t *, SHA256_CTX *));
IS(X25519, int (*)(uint8_t *, const uint8_t *, const uint8_t *));
IS(X25519_public_from_private, void (*)(uint8_t *, const uint8_t *));
IS(EVP_PBE_scrypt, int (*)(const char *, size_t, const uint8_t *, size_t, uint64_t, uint64_t, uint64_t, size_t, uint8_t *,
                           size_t));
